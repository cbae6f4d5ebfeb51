"""The metrics store's schema can be upgraded and downgraded, and equals the model."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, text

import migrations
from service.adapters.api_keys.issuer_session_tables import IssuerSessionRow
from service.adapters.api_keys.key_session_tables import KeySessionRow
from service.adapters.api_keys.key_tables import ApiKeyRow
from service.adapters.audit.audit_tables import AuditRow
from service.adapters.policies.policy_tables import PolicyRow
from service.adapters.postgres.ingest_log.ingest_tables import IngestRow
from service.adapters.postgres.query_records.replica_tables import ReplicaRow
from service.adapters.postgres.streams.stream_tables import StreamRow
from service.adapters.saved_queries.saved_query_tables import SavedQueryRow
from service.adapters.sessions.session_tables import SessionRow
from service.adapters.sql_writes.write_tables import SqlWriteRow
from service.errors.unavailable import MetricsStoreDown


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def tables(url: str) -> set[str]:
    with connected(url) as connection:
        return set(inspect(connection).get_table_names())


def differences(url: str) -> list[object]:
    with connected(url) as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        tables = (
            IngestRow,
            ReplicaRow,
            ApiKeyRow,
            KeySessionRow,
            IssuerSessionRow,
            AuditRow,
            PolicyRow,
            SessionRow,
            SqlWriteRow,
            SavedQueryRow,
        )
        assert all(table.metadata is StreamRow.metadata for table in tables)
        return list(compare_metadata(context, StreamRow.metadata))


def test_the_migrated_schema_is_the_models(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    assert differences(empty_database) == []


def test_a_schema_that_is_not_the_models_is_noticed(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        connection.execute(text("DROP INDEX ix_queries_submitted_at"))
        connection.execute(text("ALTER TABLE scans ALTER rows_total TYPE integer"))
    assert len(differences(empty_database)) == 2


def test_constraints_have_the_models_names(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        schema = inspect(connection)
        assert schema.get_pk_constraint("queries")["name"] == "pk_queries"
        assert schema.get_pk_constraint("scans")["name"] == "pk_scans"
        [key] = schema.get_foreign_keys("scans")
        assert (key["name"], key["options"]) == ("fk_scans_query_id", {"ondelete": "CASCADE"})
        assert schema.get_pk_constraint("filters")["name"] == "pk_filters"
        [key] = schema.get_foreign_keys("filters")
        assert (key["name"], key["options"]) == ("fk_filters_query_id", {"ondelete": "CASCADE"})
        [unique] = [index for index in schema.get_indexes("queries") if index["unique"]]
        assert "request_id IS NOT NULL" in unique["dialect_options"]["postgresql_where"]
        assert schema.get_pk_constraint("ingests")["name"] == "pk_ingests"
        assert schema.get_pk_constraint("ingest_commits")["name"] == "pk_ingest_commits"
        assert schema.get_pk_constraint("commit_rounds")["name"] == "pk_commit_rounds"
        [key] = schema.get_foreign_keys("ingest_commits")
        assert (key["name"], key["options"]) == ("fk_ingest_commits_ingest_id", {"ondelete": "CASCADE"})
        [unique] = [index for index in schema.get_indexes("ingests") if index["unique"]]
        assert "request_id IS NOT NULL" in unique["dialect_options"]["postgresql_where"]
        indexes = {index["name"]: index for index in schema.get_indexes("ingest_commits")}
        waiting = indexes["ix_ingest_commits_waiting"]
        assert "snapshot_id IS NULL" in waiting["dialect_options"]["postgresql_where"]


def test_upgrading_twice_is_harmless(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        connection.execute(
            text(
                "INSERT INTO queries SELECT gen_random_uuid(), 'ann', 'SELECT 1', 'SUCCEEDED', now(), "
                "NULL, NULL, NULL, '', '{}', NULL, NULL, 0, 0, 0, 0, 0, '', NULL, 0, 0, 0, '[]'"
            )
        )
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        assert connection.execute(text("SELECT count(*) FROM queries")).scalar_one() == 1


def test_a_downgrade_leaves_nothing_and_can_be_undone(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    migrations.downgrade(empty_database, "base")
    assert tables(empty_database) == {"alembic_version"}
    migrations.upgrade(empty_database)
    assert tables(empty_database) == {
        "alembic_version",
        "queries",
        "scans",
        "filters",
        "ingests",
        "ingest_commits",
        "maintenance_runs",
        "commit_rounds",
        "streams",
        "replicas",
        "open_queries",
        "api_keys",
        "key_sessions",
        "issuer_sessions",
        "audit_events",
        "policies",
        "policy_changes",
        "sessions",
        "sql_writes",
        "saved_queries",
    }


def test_queries_that_were_recorded_before_there_were_filters_are_retained(empty_database: str) -> None:
    migrations.upgrade(empty_database, "0001")
    with connected(empty_database) as connection:
        connection.execute(
            text(
                "INSERT INTO queries SELECT gen_random_uuid(), 'ann', 'SELECT 1', 'SUCCEEDED', now(), "
                "NULL, NULL, NULL, '', '{}', NULL, NULL, 0, 0, 0, 0, 0, ''"
            )
        )
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        found = connection.execute(text("SELECT rewritten_sql, parse_ms, filters_ms FROM queries")).one()
    assert tuple(found) == (None, 0, 0)
    migrations.downgrade(empty_database, "0001")
    assert tables(empty_database) == {"alembic_version", "queries", "scans"}
    with connected(empty_database) as connection:
        assert connection.execute(text("SELECT count(*) FROM queries")).scalar_one() == 1


def test_a_schema_is_current_only_when_it_is_migrated(empty_database: str) -> None:
    assert not migrations.is_current(empty_database)
    migrations.upgrade(empty_database)
    assert migrations.is_current(empty_database)
    migrations.downgrade(empty_database, "base")
    assert not migrations.is_current(empty_database)


def test_replicas_that_migrate_at_once_do_not_collide(empty_database: str) -> None:
    with ThreadPoolExecutor(4) as replicas:
        list(replicas.map(lambda _: migrations.upgrade(empty_database), range(4)))
    assert differences(empty_database) == []


def test_a_store_that_is_down_is_named_without_its_address() -> None:
    url = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"
    with pytest.raises(MetricsStoreDown) as caught:
        migrations.upgrade(url)
    assert "127.0.0.1" not in caught.value.detail


ACCEPTED_UNCOUNTED = """
WITH accepted AS (
    INSERT INTO ingests SELECT gen_random_uuid(), 'ann', NULL, 'f', now() RETURNING ingest_id
)
INSERT INTO ingest_commits
    (ingest_id, ordinal, catalog, schema, table_name, branch, targets, layout, is_upsert, file_count)
SELECT ingest_id, 0, 'lake', 'a', 't', 'main', CAST(:targets AS jsonb), '', false, 1 FROM accepted
"""


def test_ingests_that_were_accepted_before_they_were_counted_are_counted(empty_database: str) -> None:
    migrations.upgrade(empty_database, "0005")
    with connected(empty_database) as connection:
        for targets in (
            "[]",
            '[{"record_count": 2, "byte_count": 5}, {"record_count": 3, "byte_count": 7}]',
        ):
            connection.execute(text(ACCEPTED_UNCOUNTED), {"targets": targets})
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        counted = text("SELECT record_count, byte_count FROM ingest_commits ORDER BY 1")
        assert [tuple(row) for row in connection.execute(counted)] == [(0, 0), (5, 12)]
        assert set(connection.scalars(text("SELECT write_ms FROM ingests"))) == {0}
    migrations.downgrade(empty_database, "0005")
    assert "commit_rounds" not in tables(empty_database)


def test_queries_and_ingests_from_before_there_were_traces_are_retained_both_ways(
    empty_database: str,
) -> None:
    migrations.upgrade(empty_database, "0017")
    with connected(empty_database) as connection:
        connection.execute(
            text(
                "INSERT INTO queries SELECT gen_random_uuid(), 'ann', 'SELECT 1', 'SUCCEEDED', now(), "
                "NULL, NULL, NULL, '', '{}', NULL, NULL, 0, 0, 0, 0, 0, '', NULL, 0, 0, 0, '[]'"
            )
        )
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        assert connection.execute(text("SELECT traceparent FROM queries")).scalar_one() is None
        connection.execute(text("UPDATE queries SET traceparent = '00-1-2-01'"))
    migrations.downgrade(empty_database, "0017")
    with connected(empty_database) as connection:
        assert connection.execute(text("SELECT count(*) FROM queries")).scalar_one() == 1
        assert "traceparent" not in {column["name"] for column in inspect(connection).get_columns("ingests")}
