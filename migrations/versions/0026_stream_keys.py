"""The API key that a stream was created with: the stream ends with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column; streams that exist have no key in it."""
    op.add_column("streams", sa.Column("key_id", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drops the column."""
    op.drop_column("streams", "key_id")
