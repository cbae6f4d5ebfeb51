"""The result of each query's verification."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("queries", sa.Column("verification", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("queries", "verification")
