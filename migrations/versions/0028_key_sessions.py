"""Sessions of browsers: each stands for an API key, and ends with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "key_sessions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_key_sessions"),
    )
    op.create_index("ix_key_sessions_expires_at", "key_sessions", ["expires_at"])
    op.create_index("ix_key_sessions_key_id", "key_sessions", ["key_id"])


def downgrade() -> None:
    """Drops the table: everyone has to log in again."""
    op.drop_table("key_sessions")
