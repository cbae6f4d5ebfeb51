"""The schema by which the records of a stream's batch were checked, if its dead letters follow later."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ingests", sa.Column("judged_by", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    op.drop_column("ingests", "judged_by")
