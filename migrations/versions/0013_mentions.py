"""The table reference in the text that each filter applies to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The default is for existing rows, and for gateways of the version before.
    op.add_column("filters", sa.Column("probe_alias", sa.Text(), server_default="", nullable=False))
    op.add_column("filters", sa.Column("probe_mention", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("filters", "probe_mention")
    op.drop_column("filters", "probe_alias")
