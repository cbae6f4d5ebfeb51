"""Maintenance of tables and its outcomes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "maintenance_runs",
        sa.Column("maintenance_id", sa.Uuid(), nullable=False),
        sa.Column("catalog", sa.Text(), nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("operations", postgresql.JSONB(), nullable=False),
        sa.Column("snapshot_age_s", sa.BigInteger(), nullable=False),
        sa.Column("snapshots_kept", sa.BigInteger(), nullable=False),
        sa.Column("orphan_age_s", sa.BigInteger(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("results", postgresql.JSONB(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("maintenance_id", name="pk_maintenance_runs"),
    )
    op.create_index(
        "ix_maintenance_runs_of_table",
        "maintenance_runs",
        ["catalog", "schema", "table_name", "requested_at"],
    )
    op.create_index(
        "ix_maintenance_runs_open",
        "maintenance_runs",
        ["catalog", "schema", "table_name"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "ix_ingest_commits_upserts",
        "ingest_commits",
        ["catalog", "schema", "table_name", "branch", "committed_at"],
        postgresql_where=sa.text("is_upsert"),
    )


def downgrade() -> None:
    op.drop_index("ix_ingest_commits_upserts", "ingest_commits")
    op.drop_table("maintenance_runs")
