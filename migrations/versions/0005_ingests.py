"""Accepted ingests and their outcomes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ingests",
        sa.Column("ingest_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ingest_id", name="pk_ingests"),
    )
    op.create_index("ix_ingests_accepted_at", "ingests", ["accepted_at"])
    op.create_index(
        "ix_ingests_caller_request_id",
        "ingests",
        ["caller", "request_id"],
        unique=True,
        postgresql_where=sa.text("request_id IS NOT NULL"),
    )
    op.create_table(
        "ingest_commits",
        sa.Column("ingest_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("arrival", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("catalog", sa.Text(), nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("targets", postgresql.JSONB(), nullable=False),
        sa.Column("layout", sa.Text(), nullable=False),
        sa.Column("is_upsert", sa.Boolean(), nullable=False),
        sa.Column("file_count", sa.BigInteger(), nullable=False),
        sa.Column("results", sa.LargeBinary(), nullable=True),
        sa.Column("round_id", sa.Uuid(), nullable=True),
        sa.Column("snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("committed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ingest_id"], ["ingests.ingest_id"], name="fk_ingest_commits_ingest_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ingest_id", "ordinal", name="pk_ingest_commits"),
    )
    op.create_index(
        "ix_ingest_commits_waiting",
        "ingest_commits",
        ["catalog", "schema", "table_name", "branch", "arrival"],
        postgresql_where=sa.text("snapshot_id IS NULL AND error_code IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("ingest_commits")
    op.drop_table("ingests")
