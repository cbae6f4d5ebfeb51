"""Changes in each query's text besides its filters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The default is for existing rows; new ones set the value.
    op.add_column(
        "queries", sa.Column("rewrites", postgresql.JSONB(), nullable=False, server_default=sa.text("'[]'::jsonb"))
    )
    op.alter_column("queries", "rewrites", server_default=None)


def downgrade() -> None:
    op.drop_column("queries", "rewrites")
