"""INSERT, DELETE, UPDATE and MERGE as an engine runs them: what passes, what each snapshot carries."""

from __future__ import annotations

import pytest

from service.errors.gateway_error import GatewayError
from service.model.query.query import Parameter
from service.model.sessions.sessions import SessionValues
from service.model.writes.writes import Write, WriteKind
from spark_session.engine.engine import SparkEngine
from tests.integration.sql.engine_calls import code_of, error_of, root_of
from tests.integration.sql.write_calls import marked, rows, write

pytestmark = pytest.mark.integration
TABLE = "lake.shop.written"
MODE = "spark.sql.sources.partitionOverwriteMode"


@pytest.fixture(autouse=True)
def table(engine: SparkEngine) -> None:
    root_of(engine).sql(f"DROP TABLE IF EXISTS {TABLE}")
    root_of(engine).sql(
        f"CREATE TABLE {TABLE} USING iceberg AS SELECT int(id) AS id, string(id) AS name FROM range(4)"
    )


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        (f"INSERT INTO {TABLE} VALUES (7, 'seven')", {0, 1, 2, 3, 7}),
        (f"INSERT INTO {TABLE} (name, id) SELECT string(k), int(id) FROM lake.shop.by_k", {0, 1, 2, 3}),
        (f"WITH x AS (SELECT 9 AS id, 'n' AS name) INSERT INTO {TABLE} SELECT * FROM x", {0, 1, 2, 3, 9}),
        (f"FROM lake.shop.by_k INSERT INTO {TABLE} SELECT id + 10, 'k'", {0, 1, 2, 3, 11}),
        (f"INSERT OVERWRITE {TABLE} VALUES (5, 'five')", {5}),
        (f"DELETE FROM {TABLE} WHERE id IN (SELECT id FROM lake.shop.by_k)", {0, 2, 3}),
        (f"DELETE FROM {TABLE}", set()),
        (f"UPDATE {TABLE} AS t SET t.id = t.id + 100 WHERE t.id = 3", {0, 1, 2, 103}),
        (
            f"MERGE INTO {TABLE} t USING (SELECT 1 AS id UNION ALL SELECT 8) s ON t.id = s.id "
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'new')",
            {0, 2, 3, 8},
        ),
    ],
)
def test_rows_are_written_once_with_a_mark(engine: SparkEngine, sql: str, left: set[int]) -> None:
    query_id = write(engine, sql)
    assert {row[0] for row in rows(engine, f"SELECT id FROM {TABLE}")} == left
    assert len(marked(engine, TABLE, query_id)) == 1


@pytest.mark.parametrize("mode", ["STATIC", "DYNAMIC"])
@pytest.mark.parametrize(
    ("partitioning", "into"),
    [
        ("", ""),
        ("PARTITIONED BY (id)", ""),
        ("PARTITIONED BY (id)", "PARTITION (id)"),
        ("PARTITIONED BY (id)", "PARTITION (id = 2)"),
        ("PARTITIONED BY (id, name)", "PARTITION (id = 2, name)"),
        ("PARTITIONED BY (truncate(2, id))", ""),
    ],
)
def test_partitions_are_replaced_as_in_spark(
    engine: SparkEngine, mode: str, partitioning: str, into: str
) -> None:
    root, twin = root_of(engine), f"{TABLE}_twin"
    columns = "name, n" if "= 2" in into else "id, name, n"
    spark = root.newSession()
    spark.conf.set(MODE, mode)
    for name in (TABLE, twin):
        root.sql(f"DROP TABLE IF EXISTS {name}")
        root.sql(
            f"CREATE TABLE {name} USING iceberg {partitioning} AS "
            "SELECT int(id) AS id, string(id % 2) AS name, int(id) AS n FROM range(6)"
        )
    for given in ("id < 0", "id BETWEEN 2 AND 3", "id > 4"):
        sql = (
            f"INSERT OVERWRITE {{}} {into} SELECT {columns} FROM "
            f"(SELECT int(id) AS id, string(id % 2) AS name, -1 AS n FROM range(6)) WHERE {given}"
        )
        spark.sql(sql.format(twin))
        query_id = write(engine, sql.format(TABLE), session=SessionValues(settings={MODE: mode}))
        changed = marked(engine, TABLE, query_id)
        left = sorted(rows(engine, f"SELECT id, name, n FROM {TABLE}"))
        assert left == sorted(map(tuple, spark.sql(f"SELECT id, name, n FROM {twin}").collect()))
        # Spark makes no snapshot if there is no partition to replace.
        assert len(changed) == (0 if mode == "DYNAMIC" and given == "id < 0" else 1)
    root.sql(f"DROP TABLE {twin}")


def test_parameters_are_bound(engine: SparkEngine) -> None:
    write(engine, f"INSERT INTO {TABLE} VALUES (?, ?)", (Parameter(20), Parameter("it's")))
    write(engine, f"DELETE FROM {TABLE} WHERE id < :least", {"least": Parameter(3)})
    assert sorted(rows(engine, f"SELECT * FROM {TABLE}")) == [(3, "3"), (20, "it's")]


def test_values_are_cast_to_the_types_of_the_table_and_checked(engine: SparkEngine) -> None:
    root_of(engine).sql(f"DROP TABLE {TABLE}")
    root_of(engine).sql(
        f"CREATE TABLE {TABLE} (id INT NOT NULL, price DECIMAL(5, 2), at TIMESTAMP, many ARRAY<INT>) "
        "USING iceberg"
    )
    write(engine, f"INSERT INTO {TABLE} SELECT id, 1.5D, current_timestamp(), array(id) FROM range(3)")
    write(engine, f"UPDATE {TABLE} SET id = id + 10L, price = price * 2 WHERE id = 1")
    write(
        engine,
        f"MERGE INTO {TABLE} t USING (SELECT 2L AS id, 9.25D AS price) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET price = s.price",
    )
    found = sorted((key, float(str(price))) for key, price in rows(engine, f"SELECT id, price FROM {TABLE}"))
    assert found == [(0, 1.5), (2, 9.25), (11, 3.0)]
    for sql in (
        f"INSERT INTO {TABLE} (id, price) SELECT 5000000000L, 1",
        f"INSERT INTO {TABLE} (id, price) VALUES (NULL, 1)",
        f"INSERT INTO {TABLE} (id, price) VALUES (1, 123456)",
    ):
        with pytest.raises(GatewayError):
            write(engine, sql)
    assert len(rows(engine, f"SELECT id FROM {TABLE}")) == 3


def test_the_write_is_told_before_it_begins(engine: SparkEngine) -> None:
    told: list[Write] = []

    def refuse(found: Write) -> None:
        told.append(found)
        raise RuntimeError("not now")

    with pytest.raises(RuntimeError, match="not now"):
        write(engine, f"INSERT INTO {TABLE} VALUES (7, 'x')", begin=refuse)
    assert [(each.kind, str(each.table)) for each in told] == [(WriteKind.INSERT, TABLE)]
    assert len(rows(engine, f"SELECT * FROM {TABLE}")) == 4


@pytest.mark.parametrize(
    "sql",
    [
        f"INSERT INTO {TABLE} VALUES (7, 'x')",
        f"DELETE FROM {TABLE}",
        f"UPDATE {TABLE} SET id = 1",
        f"MERGE INTO {TABLE} t USING {TABLE} s ON t.id = s.id WHEN MATCHED THEN DELETE",
    ],
)
def test_queries_may_not_write(engine: SparkEngine, sql: str) -> None:
    assert code_of(engine, sql) == "SQL_WRITES_OFF"
    assert code_of(engine, f"EXPLAIN {sql}") == "STATEMENT_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (f"INSERT INTO {TABLE}.branch_audit VALUES (7, 'x')", "STATEMENT_NOT_ALLOWED"),
        (f"INSERT INTO {TABLE} WITH (`branch`='audit') VALUES (7, 'x')", "STATEMENT_NOT_ALLOWED"),
        (f"INSERT INTO {TABLE} SELECT 1, reflect('java.lang.System', 'x')", "STATEMENT_NOT_ALLOWED"),
        (f"INSERT INTO {TABLE} SELECT int(id), name FROM lake.`/tmp/x`", "STATEMENT_NOT_ALLOWED"),
        ("INSERT INTO lake.`/tmp/x` VALUES (1)", "STATEMENT_NOT_ALLOWED"),
        (f"DELETE FROM {TABLE} WHERE id IN (SELECT id FROM range(9, 1, 1, 900000))", "QUERY_TOO_LARGE"),
        (f"DELETE FROM {TABLE} WHERE name = reflect('java.lang.System', 'x')", "STATEMENT_NOT_ALLOWED"),
        (f"FROM {TABLE} INSERT INTO {TABLE} SELECT * INSERT INTO {TABLE} SELECT *", "STATEMENT_NOT_ALLOWED"),
        (f"DELETE FROM {TABLE}.snapshots", "STATEMENT_NOT_ALLOWED"),
        (f"INSERT INTO {TABLE}.files SELECT * FROM {TABLE}.files", "STATEMENT_NOT_ALLOWED"),
        (f"INSERT INTO IDENTIFIER('{TABLE}') VALUES (7, 'x')", "STATEMENT_NOT_ALLOWED"),
        (f"DELETE FROM IDENTIFIER('{TABLE}')", "STATEMENT_NOT_ALLOWED"),
        (f"INSERT INTO {TABLE} REPLACE WHERE id = 1 SELECT 1, 'x'", "STATEMENT_NOT_ALLOWED"),
        (f"WITH {TABLE.split('.')[-1]} AS (SELECT 1 AS id) DELETE FROM written", "STATEMENT_NOT_ALLOWED"),
        (
            f"MERGE WITH SCHEMA EVOLUTION INTO {TABLE} t USING (SELECT 1 AS id, 'x' AS name, 2 AS more) s "
            "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
            "STATEMENT_NOT_ALLOWED",
        ),
        ("INSERT INTO parquet.`/tmp/x` VALUES (1)", "STATEMENT_NOT_ALLOWED"),
        ("INSERT INTO spark_catalog.default.x VALUES (1)", "TABLE_NOT_FOUND"),
        ("INSERT INTO lake.shop.missing VALUES (1)", "TABLE_NOT_FOUND"),
        (f"INSERT OVERWRITE DIRECTORY '/tmp/x' USING parquet SELECT * FROM {TABLE}", "STATEMENT_NOT_ALLOWED"),
        (f"TRUNCATE TABLE {TABLE}", "STATEMENT_NOT_ALLOWED"),
    ],
)  # fmt: skip
def test_what_is_not_a_plain_write_is_refused(engine: SparkEngine, sql: str, code: str) -> None:
    with pytest.raises(GatewayError) as refused:
        write(engine, sql)
    assert refused.value.code == code, error_of(engine, sql)
    assert len(rows(engine, f"SELECT * FROM {TABLE}")) == 4
