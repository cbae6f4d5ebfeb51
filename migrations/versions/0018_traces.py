"""The traces that queries and ingests belong to, as W3C's header names them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("queries", sa.Column("traceparent", sa.Text(), nullable=True))
    op.add_column("ingests", sa.Column("traceparent", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("ingests", "traceparent")
    op.drop_column("queries", "traceparent")
