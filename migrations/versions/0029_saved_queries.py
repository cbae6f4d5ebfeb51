"""Saved queries of callers, which every replica reads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "saved_queries",
        sa.Column("saved_query_id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sql", sa.Text(), nullable=False),
        sa.Column("catalog", sa.Text(), nullable=True),
        sa.Column("schema", sa.Text(), nullable=True),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("saved_query_id", name="pk_saved_queries"),
    )
    op.create_index("ix_saved_queries_owner_changed_at", "saved_queries", ["owner", "changed_at"])
    op.create_index(
        "ix_saved_queries_shared", "saved_queries", ["changed_at"], postgresql_where=sa.text("is_shared")
    )


def downgrade() -> None:
    """Drops the table with all saved queries."""
    op.drop_table("saved_queries")
