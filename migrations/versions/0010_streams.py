"""Streams and their progress."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "streams",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("checkpoint_id", sa.Uuid(), nullable=True),
        sa.Column("last_batch_id", sa.BigInteger(), nullable=True),
        sa.Column("last_batch_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("batch_count", sa.BigInteger(), nullable=False),
        sa.Column("record_count", sa.BigInteger(), nullable=False),
        sa.Column("rejected_count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("stream_id", name="pk_streams"),
    )
    op.create_index("ix_streams_caller", "streams", ["caller"])
    op.add_column("ingests", sa.Column("stream_batch", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("ingests", "stream_batch")
    op.drop_table("streams")
