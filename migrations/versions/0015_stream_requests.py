"""The ids that callers give their streams, so that a repeated request makes one stream."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("streams", sa.Column("request_id", sa.Uuid(), nullable=True))
    op.add_column("streams", sa.Column("fingerprint", sa.Text(), server_default="", nullable=False))
    op.create_index(
        "ix_streams_caller_request_id",
        "streams",
        ["caller", "request_id"],
        unique=True,
        postgresql_where=sa.text("request_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_streams_caller_request_id", "streams")
    op.drop_column("streams", "fingerprint")
    op.drop_column("streams", "request_id")
