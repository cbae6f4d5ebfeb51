"""Sessions of browsers whose users an issuer has logged in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "issuer_sessions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("issuer_url", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("roles", postgresql.JSONB(), nullable=False),
        sa.Column("user_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_issuer_sessions"),
    )
    op.create_index("ix_issuer_sessions_expires_at", "issuer_sessions", ["expires_at"])
    op.create_index("ix_issuer_sessions_name", "issuer_sessions", ["name"])


def downgrade() -> None:
    """Drops the table: users of issuers have to log in again."""
    op.drop_table("issuer_sessions")
