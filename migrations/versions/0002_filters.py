"""The outcomes of each query's dynamic filters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TIMES = ("parse_ms", "detect_ms", "filters_ms")


def upgrade() -> None:
    op.add_column("queries", sa.Column("rewritten_sql", sa.Text(), nullable=True))
    for name in TIMES:
        # The default is for existing rows; new ones set the value.
        op.add_column("queries", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
        op.alter_column("queries", name, server_default=None)
    op.create_index("ix_queries_caller_submitted_at", "queries", ["caller", "submitted_at"])
    op.create_table(
        "filters",
        sa.Column("query_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("filter_id", sa.Text(), nullable=False),
        sa.Column("join_type", sa.Text(), nullable=False),
        sa.Column("probe_table", sa.Text(), nullable=False),
        sa.Column("probe_columns", postgresql.JSONB(), nullable=False),
        sa.Column("probe_types", postgresql.JSONB(), nullable=False),
        sa.Column("probe_snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("build_tables", postgresql.JSONB(), nullable=False),
        sa.Column("build_columns", postgresql.JSONB(), nullable=False),
        sa.Column("build_predicate", sa.Text(), nullable=False),
        sa.Column("build_snapshot_ids", postgresql.JSONB(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("value_count", sa.BigInteger(), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("ranges", postgresql.JSONB(), nullable=False),
        sa.Column("exceeds_threshold", sa.Boolean(), nullable=False),
        sa.Column("collection_ms", sa.BigInteger(), nullable=False),
        sa.Column("cache_note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_id"], ["queries.query_id"], name="fk_filters_query_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("query_id", "ordinal", name="pk_filters"),
    )


def downgrade() -> None:
    op.drop_table("filters")
    op.drop_index("ix_queries_caller_submitted_at", "queries")
    for name in ("rewritten_sql", *TIMES):
        op.drop_column("queries", name)
