"""Replicas with the time they were last seen, and their open queries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

NOW = sa.text("clock_timestamp()")


def upgrade() -> None:
    op.create_table(
        "replicas",
        sa.Column("replica_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("replica_id", name="pk_replicas"),
    )
    op.create_index("ix_replicas_last_seen", "replicas", ["last_seen"])
    op.create_table(
        "open_queries",
        sa.Column("query_id", sa.Uuid(), nullable=False),
        sa.Column("replica_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("sql", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("catalog", sa.Text(), nullable=True),
        sa.Column("schema", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("tags", postgresql.JSONB(), nullable=False),
        sa.Column("queued_ms", sa.BigInteger(), nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger(), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("is_canceled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("query_id", name="pk_open_queries"),
        sa.ForeignKeyConstraint(
            ["replica_id"],
            ["replicas.replica_id"],
            name="fk_open_queries_replica_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_open_queries_replica_id", "open_queries", ["replica_id"])


def downgrade() -> None:
    op.drop_table("open_queries")
    op.drop_table("replicas")
