"""CREATE, REPLACE, DROP, ALTER and COMMENT as an engine runs them: what passes, and what is refused."""

from __future__ import annotations

from datetime import datetime

import pytest

from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import WriteNotAllowed
from service.model.writes.writes import Write
from spark_session.engine.engine import SparkEngine
from tests.integration.sql.engine_calls import code_of, root_of
from tests.integration.sql.write_calls import marked, rows, write

pytestmark = pytest.mark.integration
TABLE, NEW = "lake.shop.defined", "lake.shop.new_one"


@pytest.fixture(autouse=True)
def table(engine: SparkEngine) -> None:
    for each in (TABLE, NEW):
        root_of(engine).sql(f"DROP TABLE IF EXISTS {each}")
    root_of(engine).sql(f"CREATE TABLE {TABLE} USING iceberg AS SELECT 1 AS id, 'a' AS name")


def test_tables_are_created_with_rows_and_replaced(engine: SparkEngine) -> None:
    made = write(
        engine,
        f"CREATE TABLE {NEW} USING iceberg PARTITIONED BY (bucket(2, id)) "
        f"TBLPROPERTIES ('user.team'='x') COMMENT 'ours' AS SELECT id, name FROM {TABLE}",
    )
    assert rows(engine, f"SELECT * FROM {NEW}") == [(1, "a")]
    assert len(marked(engine, NEW, made)) == 1
    replaced = write(engine, f"CREATE OR REPLACE TABLE {NEW} AS WITH x AS (SELECT 7 AS k) SELECT k FROM x")
    assert rows(engine, f"SELECT * FROM {NEW}") == [(7,)]
    assert len(marked(engine, NEW, replaced)) == 1
    write(engine, f"CREATE OR REPLACE TABLE {NEW} (a INT, b DECIMAL(7, 2))")
    assert rows(engine, f"SELECT * FROM {NEW}") == []


def test_tables_are_created_changed_and_dropped(engine: SparkEngine) -> None:
    for sql in (
        f"CREATE TABLE {NEW} (id INT COMMENT 'key', at TIMESTAMP) PARTITIONED BY (days(at))",
        f"CREATE TABLE IF NOT EXISTS {NEW} (id INT)",
        f"ALTER TABLE {NEW} ADD COLUMNS (price DECIMAL(5, 2), note STRING AFTER id)",
        f"ALTER TABLE {NEW} ALTER COLUMN id TYPE BIGINT",
        f"ALTER TABLE {NEW} ALTER COLUMN id COMMENT 'the key'",
        f"ALTER TABLE {NEW} RENAME COLUMN note TO remark",
        f"ALTER TABLE {NEW} DROP COLUMN price",
        f"ALTER TABLE {NEW} SET TBLPROPERTIES ('write.distribution-mode'='none', 'user.a'='b')",
        f"ALTER TABLE {NEW} UNSET TBLPROPERTIES ('user.a')",
        f"COMMENT ON TABLE {NEW} IS 'all'",
    ):
        write(engine, sql)
    assert root_of(engine).table(NEW).dtypes == [
        ("id", "bigint"),
        ("remark", "string"),
        ("at", "timestamp"),
    ]
    write(engine, f"DROP TABLE {NEW}")
    assert code_of(engine, f"SELECT * FROM {NEW}") == "TABLE_NOT_FOUND"


def test_schemas_are_created_and_dropped(engine: SparkEngine) -> None:
    told: list[Write] = []
    write(engine, "CREATE SCHEMA IF NOT EXISTS lake.made", begin=told.append)
    assert str(told[0].table) == "lake.made.*"
    assert ("made",) in rows(engine, "SHOW SCHEMAS IN lake")
    write(engine, "DROP SCHEMA lake.made")
    assert ("made",) not in rows(engine, "SHOW SCHEMAS IN lake")


@pytest.mark.parametrize("name", ["other", "shop.other", "lake.shop.other"])
def test_a_new_name_is_reported_in_full(engine: SparkEngine, name: str) -> None:
    def begin(asked: Write) -> None:
        assert list(map(str, asked.changed)) == [TABLE, "lake.shop.other"]
        raise WriteNotAllowed("Not now.")

    with pytest.raises(WriteNotAllowed):
        write(engine, f"ALTER TABLE {TABLE} RENAME TO {name}", begin=begin)


@pytest.mark.parametrize(
    "sql",
    [
        f"CREATE TABLE {NEW} (id INT) USING parquet",
        f"CREATE TABLE {NEW} USING parquet AS SELECT 1 AS id",
        f"CREATE OR REPLACE TABLE {TABLE} USING org.apache.spark.sql.jdbc AS SELECT 1 AS id",
        f"CREATE OR REPLACE TABLE {TABLE} LOCATION '/tmp/elsewhere' AS SELECT 1 AS id",
        f"CREATE TABLE {NEW} (id INT, x STRING DEFAULT reflect('java.lang.System', 'getenv'))",
        f"ALTER TABLE {TABLE} ADD COLUMN x STRING DEFAULT java_method('java.lang.System', 'getenv')",
        f"CREATE TABLE {NEW} (id INT) TBLPROPERTIES ('write.location-provider.impl'='x.Y')",
        f"CREATE TABLE {NEW} (id INT) TBLPROPERTIES ('option.write.data.path'='/tmp/elsewhere')",
        f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('Write.Data.Path'='/tmp/elsewhere')",
        f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('current-snapshot-id'='1')",
        f"CREATE TABLE {NEW} (id INT) LOCATION '/tmp/elsewhere'",
        f"CREATE TABLE {NEW} (id INT) TBLPROPERTIES ('write.data.path'='/tmp/elsewhere')",
        f"CREATE TABLE {NEW} (id INT) TBLPROPERTIES ('format-version'='3')",
        f"CREATE TABLE {NEW} USING iceberg OPTIONS ('path'='/tmp/elsewhere') AS SELECT 1 AS id",
        f"CREATE TABLE {NEW} AS SELECT reflect('java.lang.System', 'x') AS id",
        f"CREATE EXTERNAL TABLE {NEW} (id INT)",
        "CREATE TABLE lake.shop.files (id INT)",
        "CREATE TABLE lake.shop.branch_x (id INT)",
        "CREATE TABLE lake.`/tmp/x` (id INT)",
        "CREATE TABLE lake.shop.`..` (id INT)",
        "CREATE TABLE lake.shop.`a/../../x` (id INT)",
        "CREATE TABLE lake.shop.`a\\x` (id INT)",
        "CREATE TABLE lake.shop.`other.t` (id INT)",
        "CREATE TABLE lake.shop.`*` (id INT)",
        "CREATE TABLE IDENTIFIER('lake.shop.' || 'new_one') (id INT)",
        "CREATE SCHEMA lake.`..`",
        "CREATE SCHEMA lake.`/tmp/x`",
        "CREATE SCHEMA spark_catalog.made",
        "DROP TABLE IDENTIFIER('lake.shop.defined')",
        f"CREATE TABLE {TABLE}.snapshots (id INT)",
        f"DROP TABLE {TABLE}.snapshots",
        "CREATE TABLE spark_catalog.default.x (id INT)",
        f"DROP TABLE {TABLE} PURGE",
        "DROP SCHEMA lake.shop CASCADE",
        "CREATE SCHEMA lake.made LOCATION '/tmp/elsewhere'",
        "CREATE SCHEMA lake.made WITH DBPROPERTIES ('a'='b')",
        f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('write.metadata.path'='/tmp')",
        f"ALTER TABLE {TABLE} UNSET TBLPROPERTIES ('write.data.path')",
        f"ALTER TABLE {TABLE} SET LOCATION '/tmp/elsewhere'",
        f"ALTER TABLE {TABLE} RENAME TO lake.shop.files",
        f"ALTER TABLE {TABLE} RENAME TO snapshots",
        f"ALTER TABLE {TABLE} RENAME TO spark_catalog.default.x",
        f"ALTER TABLE {TABLE} RENAME TO lake.shop.`..`",
        f"ALTER TABLE {TABLE} ADD PARTITION FIELD id",
        f"ALTER TABLE {TABLE} CREATE BRANCH audit",
        f"ALTER VIEW {TABLE} RENAME TO lake.shop.other",
        f"CALL lake.system.rollback_to_snapshot('{TABLE}', 1)",
        f"CALL lake.system.rewrite_data_files(table => '{TABLE}', options => map('a', 'b'))",
        f"CALL spark_catalog.system.rewrite_data_files(table => '{TABLE}')",
        f"CALL lake.system.rewrite_data_files(table => '{TABLE}.files')",
        "CALL lake.system.rewrite_data_files(table => 'a/b')",
        "COMMENT ON SCHEMA lake.shop IS 'x'",
        f"ANALYZE TABLE {TABLE} COMPUTE STATISTICS",
        "CREATE FUNCTION lake.shop.f AS 'x.Y'",
        # Folders have no views.
        f"CREATE VIEW lake.shop.v AS SELECT * FROM {TABLE}",
        f"CREATE OR REPLACE VIEW lake.shop.v AS SELECT * FROM {TABLE}",
        "ALTER VIEW lake.shop.v AS SELECT 1",
        f"CREATE VIEW spark_catalog.default.v AS SELECT * FROM {TABLE}",
    ],
)
def test_what_reaches_beyond_the_table_is_refused(engine: SparkEngine, sql: str) -> None:
    with pytest.raises(GatewayError) as refused:
        write(engine, sql)
    assert refused.value.code in ("STATEMENT_NOT_ALLOWED", "SESSION_REQUIRED"), refused.value
    assert rows(engine, f"SELECT * FROM {TABLE}") == [(1, "a")]


def test_a_call_is_only_begun(engine: SparkEngine) -> None:
    """The engine removes nothing: whoever has sent the statement maintains the table."""
    before = rows(engine, f"SELECT snapshot_id FROM {TABLE}.snapshots")
    root_of(engine).sql(f"INSERT INTO {TABLE} VALUES (2, 'b')")
    begun: list[Write] = []
    write(
        engine,
        "CALL lake.system.expire_snapshots(retain_last => 1, table => 'shop.defined',"
        " OLDER_THAN => TIMESTAMP '2035-01-01 00:00:00 UTC')",
        begin=begun.append,
    )
    (asked,) = begun
    assert (asked.kind.value, str(asked.table)) == ("CALL", TABLE)
    assert asked.call is not None
    assert asked.call.since_1970("older_than") == datetime(2035, 1, 1) - datetime(1970, 1, 1)
    assert {each.name: each.value for each in asked.call.arguments if each.name != "older_than"} == {
        "retain_last": 1,
        "table": "shop.defined",
    }
    assert set(before) < set(rows(engine, f"SELECT snapshot_id FROM {TABLE}.snapshots"))


@pytest.mark.parametrize(
    "sql",
    [
        f"CREATE TABLE {NEW} AS SELECT 1 AS id",
        f"DROP TABLE {TABLE}",
        "CREATE SCHEMA lake.made",
        f"ALTER TABLE {TABLE} ADD COLUMN x INT",
        f"CREATE VIEW lake.shop.v AS SELECT * FROM {TABLE}",
        "DROP VIEW IF EXISTS lake.shop.v",
        f"CALL lake.system.rewrite_data_files(table => '{TABLE}')",
    ],
)
def test_queries_may_not_change_a_catalog(engine: SparkEngine, sql: str) -> None:
    assert code_of(engine, sql) == "SQL_WRITES_OFF"
