"""Records of queries and their scans."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LEVELS = ("partitions", "manifests", "data_files", "bytes", "rows")


def upgrade() -> None:
    op.create_table(
        "queries",
        sa.Column("query_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("sql", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("catalog", sa.Text(), nullable=True),
        sa.Column("schema", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("tags", postgresql.JSONB(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("queued_ms", sa.BigInteger(), nullable=False),
        sa.Column("planning_ms", sa.BigInteger(), nullable=False),
        sa.Column("running_ms", sa.BigInteger(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("spark_plan", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("query_id", name="pk_queries"),
    )
    op.create_index("ix_queries_submitted_at", "queries", ["submitted_at"])
    op.create_index(
        "ix_queries_caller_request_id",
        "queries",
        ["caller", "request_id"],
        unique=True,
        postgresql_where=sa.text("request_id IS NOT NULL"),
    )
    op.create_table(
        "scans",
        sa.Column("query_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger(), nullable=True),
        *(
            sa.Column(f"{level}_{count}", sa.BigInteger(), nullable=False)
            for level in LEVELS
            for count in ("total", "selected")
        ),
        sa.Column("planning_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_id"], ["queries.query_id"], name="fk_scans_query_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("query_id", "ordinal", name="pk_scans"),
    )


def downgrade() -> None:
    op.drop_table("scans")
    op.drop_table("queries")
