"""The columns that each scan read, and whether the keys of a filter come from several build sides."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("scans", sa.Column("columns", postgresql.JSONB(), server_default="[]", nullable=False))
    op.add_column(
        "filters", sa.Column("build_is_union", sa.Boolean(), server_default=sa.false(), nullable=False)
    )


def downgrade() -> None:
    op.drop_column("filters", "build_is_union")
    op.drop_column("scans", "columns")
