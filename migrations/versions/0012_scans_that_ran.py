"""Whether a scan has run, and whether Spark pruned it by its own keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The default is for existing rows, and for gateways of the version before.
    op.add_column("scans", sa.Column("has_run", sa.Boolean(), server_default=sa.true(), nullable=False))
    op.add_column("scans", sa.Column("is_native", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("scans", "is_native")
    op.drop_column("scans", "has_run")
