"""The earlier query whose result a query was answered with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; queries that ended before have neither."""
    op.add_column("queries", sa.Column("reused_from", sa.Uuid(), nullable=True))
    op.add_column("queries", sa.Column("reused_age_ms", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Drops the columns."""
    op.drop_column("queries", "reused_age_ms")
    op.drop_column("queries", "reused_from")
