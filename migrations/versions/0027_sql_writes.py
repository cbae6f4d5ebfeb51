"""Writes by SQL: recorded before they begin, and at their end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "sql_writes",
        sa.Column("query_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_by", sa.DateTime(timezone=True), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("rows_affected", sa.BigInteger(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("query_id", name="pk_sql_writes"),
    )
    op.create_index("ix_sql_writes_started_at", "sql_writes", ["started_at"])
    op.create_index(
        "ix_sql_writes_caller_request_id",
        "sql_writes",
        ["caller", "request_id"],
        unique=True,
        postgresql_where="request_id IS NOT NULL",
    )


def downgrade() -> None:
    """Drops the table; what was written stays."""
    op.drop_table("sql_writes")
