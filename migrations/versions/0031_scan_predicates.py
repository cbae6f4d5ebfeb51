"""The columns that each scan was filtered by, and the ranges of their values."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column; the version before leaves it at its default."""
    op.add_column("scans", sa.Column("predicates", postgresql.JSONB(), server_default="[]", nullable=False))


def downgrade() -> None:
    """Drops the column with what was recorded in it."""
    op.drop_column("scans", "predicates")
