"""The cost of an ingest and of a commit round."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0006"
branch_labels = None
depends_on = None

_SUM = (
    "UPDATE ingest_commits SET"
    " record_count = (SELECT coalesce(sum((each ->> 'record_count')::bigint), 0)"
    " FROM jsonb_array_elements(targets) AS each),"
    " byte_count = (SELECT coalesce(sum((each ->> 'byte_count')::bigint), 0)"
    " FROM jsonb_array_elements(targets) AS each)"
)


def upgrade() -> None:
    op.add_column("ingests", sa.Column("write_ms", sa.BigInteger(), nullable=True))
    op.execute("UPDATE ingests SET write_ms = 0")
    op.alter_column("ingests", "write_ms", nullable=False)
    for name in ("record_count", "byte_count"):
        op.add_column("ingest_commits", sa.Column(name, sa.BigInteger(), nullable=True))
    op.execute(_SUM)
    for name in ("record_count", "byte_count"):
        op.alter_column("ingest_commits", name, nullable=False)
    op.create_table(
        "commit_rounds",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("catalog", sa.Text(), nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("commit_ms", sa.BigInteger(), nullable=False),
        sa.Column("ingest_count", sa.BigInteger(), nullable=False),
        sa.Column("target_count", sa.BigInteger(), nullable=False),
        sa.Column("file_count", sa.BigInteger(), nullable=False),
        sa.Column("record_count", sa.BigInteger(), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("round_id", name="pk_commit_rounds"),
    )
    op.create_index("ix_commit_rounds_ended_at", "commit_rounds", ["ended_at"])


def downgrade() -> None:
    op.drop_table("commit_rounds")
    op.drop_column("ingest_commits", "byte_count")
    op.drop_column("ingest_commits", "record_count")
    op.drop_column("ingests", "write_ms")
