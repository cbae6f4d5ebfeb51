"""The detailed cause why a filter was not applied."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("filters", sa.Column("detail", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("filters", "detail")
