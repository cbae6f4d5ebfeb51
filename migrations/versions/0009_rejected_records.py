"""Records that did not fit and went to the dead-letter table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "ingests", sa.Column("rejected_count", sa.BigInteger(), server_default="0", nullable=False)
    )
    op.add_column(
        "ingests",
        sa.Column("rejected_samples", postgresql.JSONB(), server_default="[]", nullable=False),
    )


def downgrade() -> None:
    op.drop_column("ingests", "rejected_samples")
    op.drop_column("ingests", "rejected_count")
