"""The kind and the roles of who created a stream, for the policies that decide its writes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; streams that exist have neither."""
    op.add_column("streams", sa.Column("principal_kind", sa.Text(), nullable=True))
    op.add_column("streams", sa.Column("roles", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    """Drops the columns."""
    op.drop_column("streams", "roles")
    op.drop_column("streams", "principal_kind")
