"""Policies, and the history of their changes, whose largest version is the current one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policies",
        sa.Column("policy_id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("table_pattern", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=True),
        sa.Column("column_name", sa.Text(), nullable=True),
        sa.Column("expression", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("policy_id", name="pk_policies"),
    )
    op.create_table(
        "policy_changes",
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("added", postgresql.JSONB(), nullable=False),
        sa.Column("removed", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_policy_changes"),
    )


def downgrade() -> None:
    op.drop_table("policy_changes")
    op.drop_table("policies")
