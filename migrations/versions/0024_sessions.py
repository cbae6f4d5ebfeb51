"""Sessions of callers, as values that every replica reads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("session_values", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_caller", "sessions", ["caller"])
    op.create_index("ix_sessions_last_used_at", "sessions", ["last_used_at"])


def downgrade() -> None:
    """Drops the table with all sessions."""
    op.drop_table("sessions")
