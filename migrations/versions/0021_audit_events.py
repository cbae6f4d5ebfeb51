"""Audited events, which can only be added, and deleted when they are old."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

GUARD = """
CREATE FUNCTION sluice_keep_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('sluice.forgets_audit_events', true) = 'yes' THEN
        IF OLD.stored_at < clock_timestamp() - interval '1 day' THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit events cannot be changed, and only retention deletes them'
        USING ERRCODE = 'insufficient_privilege';
END
$$
"""
# It runs with the rights of the table's owner, so that the gateway's own role needs no right to delete. Its
# search path is fixed, so that a caller's own tables cannot take the place of the log.
FORGET = """
CREATE FUNCTION sluice_forget_audit_events(older_than interval, at_most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE
    deleted bigint;
BEGIN
    PERFORM set_config('sluice.forgets_audit_events', 'yes', true);
    DELETE FROM audit_events WHERE position IN (
        SELECT position FROM audit_events
        WHERE stored_at < clock_timestamp() - greatest(older_than, interval '1 day')
        ORDER BY stored_at LIMIT at_most
    );
    GET DIAGNOSTICS deleted = ROW_COUNT;
    PERFORM set_config('sluice.forgets_audit_events', '', true);
    RETURN deleted;
END
$$
"""
# Default privileges may have given other roles more than they need.
RIGHTS = """
DO $$
DECLARE
    other record;
BEGIN
    REVOKE ALL ON FUNCTION sluice_forget_audit_events(interval, bigint) FROM PUBLIC;
    REVOKE UPDATE, DELETE, TRUNCATE ON audit_events FROM PUBLIC;
    FOR other IN
        SELECT DISTINCT given.grantee::regrole AS name
        FROM pg_class, aclexplode(pg_class.relacl) AS given
        WHERE pg_class.oid = 'audit_events'::regclass AND given.grantee NOT IN (0, pg_class.relowner)
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON audit_events FROM %s', other.name);
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION sluice_forget_audit_events(interval, bigint) TO %s', other.name
        );
    END LOOP;
END
$$
"""


def upgrade() -> None:
    op.create_table(
        "audit_events",
        sa.Column("position", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column(
            "stored_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("principal_kind", sa.Text(), nullable=False),
        sa.Column("principal_class", sa.Text(), nullable=False),
        sa.Column("roles", postgresql.JSONB(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("query_id", sa.Uuid(), nullable=True),
        sa.Column("ingest_id", sa.Uuid(), nullable=True),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("statement", sa.Text(), nullable=True),
        sa.Column("tables", postgresql.JSONB(), nullable=False),
        sa.Column("columns", postgresql.JSONB(), nullable=False),
        sa.Column("policies", postgresql.JSONB(), nullable=False),
        sa.Column("is_shortened", sa.Boolean(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=True),
        sa.Column("byte_count", sa.BigInteger(), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("position", name="pk_audit_events"),
    )
    op.create_index("ix_audit_events_stored_at", "audit_events", ["stored_at"])
    op.create_index("ix_audit_events_event_id", "audit_events", ["event_id"], unique=True)
    op.execute(GUARD)
    op.execute(
        "CREATE TRIGGER keep_audit_events BEFORE UPDATE OR DELETE ON audit_events"
        " FOR EACH ROW EXECUTE FUNCTION sluice_keep_audit_events()"
    )
    op.execute(
        "CREATE TRIGGER keep_all_audit_events BEFORE TRUNCATE ON audit_events"
        " FOR EACH STATEMENT EXECUTE FUNCTION sluice_keep_audit_events()"
    )
    schema = op.get_bind().execute(sa.text("SELECT quote_ident(current_schema())")).scalar_one()
    op.execute(FORGET.replace("{schema}", schema))
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("DROP FUNCTION sluice_forget_audit_events(interval, bigint)")
    op.drop_table("audit_events")
    op.execute("DROP FUNCTION sluice_keep_audit_events()")
