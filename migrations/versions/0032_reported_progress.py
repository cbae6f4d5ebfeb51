"""How far open queries are, as their replicas report it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; the version before leaves them empty."""
    op.add_column("open_queries", sa.Column("progress", postgresql.JSONB(), nullable=True))
    op.add_column("open_queries", sa.Column("progress_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("open_queries", sa.Column("progress_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Drops the columns; other replicas' queries have states alone then."""
    op.drop_column("open_queries", "progress_until")
    op.drop_column("open_queries", "progress_at")
    op.drop_column("open_queries", "progress")
