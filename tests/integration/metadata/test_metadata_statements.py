"""SHOW, DESCRIBE and EXPLAIN: Spark's own answers, as far as a principal may see them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.gateway_error import GatewayError
from service.errors.statement_errors import ParameterUnused
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import Parameter
from service.model.sessions.sessions import SessionValues, SessionView
from tests.integration.metadata.conftest import (
    ADMIN,
    DESCRIBER,
    FILTERED,
    MASKED,
    NOBODY,
    READER,
    Asking,
    access,
)

pytestmark = pytest.mark.integration

STATEMENTS = [
    "SHOW CATALOGS",
    "SHOW CATALOGS LIKE 'l*'",
    "SHOW SCHEMAS",
    "SHOW NAMESPACES IN lake",
    "SHOW DATABASES FROM mem LIKE 's*'",
    "SHOW TABLES IN lake.shop",
    "SHOW TABLES IN lake.shop LIKE 'o*'",
    "SHOW TABLES IN lake.empty",
    "SHOW VIEWS IN mem.shop",
    "SHOW COLUMNS IN lake.shop.orders",
    "SHOW CREATE TABLE lake.shop.orders",
    "SHOW CREATE TABLE mem.shop.some",
    "SHOW TBLPROPERTIES lake.shop.orders",
    "SHOW TBLPROPERTIES lake.shop.orders ('owner.note')",
    "SHOW CURRENT NAMESPACE",
    "SHOW FUNCTIONS LIKE 'ab*'",
    "SHOW SYSTEM FUNCTIONS LIKE 'ab*'",
    "DESCRIBE lake.shop.orders",
    "DESC TABLE lake.shop.orders",
    "DESCRIBE TABLE EXTENDED lake.shop.orders",
    "DESCRIBE lake.shop.orders card",
    "DESCRIBE EXTENDED lake.shop.orders id",
    "DESCRIBE TABLE EXTENDED mem.shop.some",
    "DESCRIBE lake.shop.orders.snapshots",
    "DESCRIBE SCHEMA lake.shop",
    "DESCRIBE SCHEMA EXTENDED lake.shop",
    "DESCRIBE FUNCTION abs",
    "DESCRIBE FUNCTION EXTENDED abs",
    "DESCRIBE QUERY SELECT id, card FROM lake.shop.orders",
    "DESCRIBE WITH a AS (SELECT 1 AS x) SELECT * FROM a",
]
OF_A_TABLE = [
    "DESCRIBE {0}",
    "DESCRIBE TABLE EXTENDED {0}",
    "DESCRIBE {0} id",
    "SHOW COLUMNS IN {0}",
    "SHOW CREATE TABLE {0}",
    "SHOW TBLPROPERTIES {0}",
    "SHOW PARTITIONS {0}",
    "DESCRIBE QUERY SELECT * FROM {0}",
    "EXPLAIN SELECT * FROM {0}",
]


@pytest.mark.parametrize("who", [FULL_ACCESS, ADMIN], ids=["without policies", "admin"])
@pytest.mark.parametrize("sql", STATEMENTS)
def test_who_may_see_all_gets_sparks_own_answer(asking: Asking, sql: str, who: Access) -> None:
    with asking.spark() as spark:
        frame = spark.sql(sql)
        expected = [tuple(row) for row in frame.collect()]
    found = asking.run(sql, who)
    assert [column.name for column in found.columns] == frame.columns
    assert [tuple(row.values()) for row in found.rows.to_pylist()] == expected


def extended(asking: Asking, schema: str, who: Access, pattern: str = "*") -> dict[str, str]:
    """Returns the type of each table and view by its name; says nothing of where files lie."""
    rows = asking.rows(f"SHOW TABLE EXTENDED IN {schema} LIKE '{pattern}'", who)
    found = {name: dict(line.split(": ", 1) for line in text.splitlines()) for _, name, _, text in rows}
    for name, entry in found.items():
        assert f"{entry['Catalog']}.{entry['Namespace']}.{entry['Table']}" == f"{schema}.{name}"
        assert set(entry) <= {"Catalog", "Namespace", "Table", "Type", "Provider"}
    return {name: entry["Type"] for name, entry in found.items()}


def test_lists_have_what_may_be_known(asking: Asking) -> None:
    assert asking.rows("SHOW CATALOGS", READER) == [("lake",)]
    assert asking.rows("SHOW SCHEMAS IN lake", READER) == [("shop",)]
    assert asking.rows("SHOW TABLES IN lake.shop", READER) == [("shop", "orders", False)]
    assert asking.rows("SHOW TABLES IN lake.shop", FILTERED) == [
        ("shop", "items", False),
        ("shop", "orders", False),
    ]
    viewer = access(("mem.shop.some", "select"))
    assert asking.rows("SHOW VIEWS IN mem.shop", viewer) == [("shop", "some", False)]
    assert asking.rows("SHOW TABLES IN mem.shop", viewer) == []
    assert extended(asking, "mem.shop", viewer) == {"some": "VIEW"}
    assert extended(asking, "lake.shop", READER) == {"orders": "MANAGED"}
    assert extended(asking, "lake.shop", FILTERED) == {"items": "MANAGED", "orders": "MANAGED"}
    assert extended(asking, "lake.shop", FILTERED, "it*|no\\'ne") == {"items": "MANAGED"}
    here = SessionValues("lake", "shop", views=(SessionView("items", "SELECT 1"),))
    assert [row[:3] for row in asking.rows("SHOW TABLE EXTENDED LIKE '*'", READER, here)] == [
        ("shop", "orders", False)
    ]
    assert asking.rows("SHOW TABLE EXTENDED LIKE 'items|pay'", READER, here) == []
    by_table = access(("lake.*.pay", "describe"))
    assert asking.rows("SHOW SCHEMAS IN lake", by_table) == [("hr",)]
    assert asking.rows("SHOW CATALOGS", NOBODY) == []


@pytest.mark.parametrize(
    "statement",
    [
        "SHOW TABLES IN lake.{0}",
        "SHOW TABLE EXTENDED IN lake.{0} LIKE '*'",
        "SHOW VIEWS IN lake.{0}",
        "DESCRIBE SCHEMA lake.{0}",
    ],
)
def test_a_schema_that_may_not_be_known_does_not_exist(asking: Asking, statement: str) -> None:
    for who in (READER, NOBODY, access(("lake.*.orders", "select"))):
        hidden = asking.error(statement.format("hr"), who)
        missing = asking.error(statement.format("no"), who)
        assert hidden == missing.replace(".no", ".hr")
        assert hidden.startswith("SQL_INVALID")
    assert asking.error(statement.format("no")) == "SQL_INVALID: There is no schema lake.no."


def test_a_catalog_that_may_not_be_known_does_not_exist(asking: Asking) -> None:
    hidden, missing = (asking.error(f"SHOW SCHEMAS IN {name}", READER) for name in ("mem", "nope"))
    assert hidden.startswith("SQL_INVALID: There is no catalog mem")
    assert missing.startswith("SQL_INVALID")
    for name in ("mem", "mem.shop", "spark_catalog.default"):
        asked = f"SHOW TABLE EXTENDED IN {name} LIKE '*'"
        catalog = name.partition(".")[0]
        assert asking.error(asked, READER).startswith(f"SQL_INVALID: There is no catalog {catalog}")


@pytest.mark.parametrize("statement", OF_A_TABLE)
def test_a_table_that_may_not_be_known_does_not_exist(asking: Asking, statement: str) -> None:
    for who in (READER, NOBODY):
        hidden = asking.error(statement.format("lake.hr.pay"), who)
        assert hidden == "TABLE_ACCESS_DENIED: You may not read lake.hr.pay."
        missing = asking.error(statement.format("lake.hr.nope"), who)
        # For a query, the gateway turns the engine's answer into the same one.
        expected = {"TABLE_ACCESS_DENIED: You may not read lake.hr.nope."}
        if "SELECT" in statement:
            expected.add("TABLE_NOT_FOUND: There is no table lake.hr.nope.")
        assert missing in expected
        assert asking.error(statement.format("mem.hr.secret"), who).startswith("TABLE_ACCESS_DENIED")


def test_metadata_tables_and_paths_are_no_way_around(asking: Asking) -> None:
    everything_but = access(("*.*.*", "select"), ("lake.hr.pay", "!admin"))
    for suffix in (".files", ".snapshots", ".branch_main"):
        assert asking.error(f"DESCRIBE lake.hr.pay{suffix}", everything_but).startswith("TABLE_ACCESS_DENIED")
    assert asking.error("DESCRIBE lake.shop.orders.files", FILTERED).startswith("TABLE_ACCESS_DENIED")
    assert asking.error("DESCRIBE lake.shop.orders.snapshots", FILTERED) == ""
    assert asking.error("DESCRIBE lake.`/tmp/x`").startswith("STATEMENT_NOT_ALLOWED")


def test_places_of_files_are_for_administrators(asking: Asking) -> None:
    for sql in (
        "DESCRIBE TABLE EXTENDED lake.shop.orders",
        "SHOW CREATE TABLE lake.shop.orders",
        "SHOW TBLPROPERTIES lake.shop.orders",
    ):
        assert "/warehouse" in str(asking.rows(sql, ADMIN)) or "s3://" in str(asking.rows(sql, ADMIN))
        shown = str(asking.rows(sql, READER))
        assert "warehouse" not in shown
        assert "s3://" not in shown
        assert "redacted" in shown
    assert ("owner.note", "x") in asking.rows("SHOW TBLPROPERTIES lake.shop.orders", READER)


def test_statistics_are_for_who_sees_all_rows(asking: Asking) -> None:
    extended = "DESCRIBE TABLE EXTENDED lake.shop.orders"
    assert "Statistics" in [row[0] for row in asking.rows(extended, READER)]
    assert "Statistics" in [row[0] for row in asking.rows(extended, MASKED)]
    for who in (FILTERED, DESCRIBER):
        shown = asking.rows(extended, who)
        assert "Statistics" not in [row[0] for row in shown]
        assert ("id", "bigint", "the key") in shown
    for who in (FILTERED, MASKED, DESCRIBER):
        column = dict(asking.rows("DESCRIBE EXTENDED lake.shop.orders id", who))
        assert {column.get(name, "NULL") for name in ("min", "max", "num_nulls", "distinct_count")} == {
            "NULL"
        }


def test_partitions_are_for_who_sees_the_whole_table(asking: Asking) -> None:
    days = [("day=2024-01-01",), ("day=2024-01-02",), ("day=2024-01-03",)]
    for who in (FULL_ACCESS, ADMIN, READER):
        found = asking.run("SHOW PARTITIONS lake.shop.orders", who)
        assert [column.name for column in found.columns] == ["partition"]
        assert [tuple(row.values()) for row in found.rows.to_pylist()] == days
    for who in (FILTERED, MASKED, DESCRIBER):
        assert asking.error("SHOW PARTITIONS lake.shop.orders", who).startswith("TABLE_ACCESS_DENIED")
    assert asking.error("SHOW PARTITIONS lake.shop.items").startswith("SQL_INVALID")
    assert asking.error("SHOW PARTITIONS lake.shop.orders PARTITION (day = '2024-01-01')").startswith(
        "STATEMENT_NOT_ALLOWED"
    )


def test_a_views_text_is_for_who_knows_what_it_names(asking: Asking) -> None:
    create, extended = "SHOW CREATE TABLE mem.shop.some", "DESCRIBE TABLE EXTENDED mem.shop.some"
    view = ("mem.shop.some", "select")
    knows = access(view, ("mem.shop.base", "describe"))
    assert "mem.shop.base" in str(asking.rows(create, knows))
    assert asking.error(create, access(view)).startswith("TABLE_ACCESS_DENIED")
    assert "mem.shop.base" not in str(asking.rows(extended, access(view)))
    assert [row[0] for row in asking.rows("DESCRIBE mem.shop.some", access(view))] == ["id", "card"]


@pytest.mark.parametrize("mode", ["", "EXTENDED", "FORMATTED", "COST"])
def test_explain_shows_the_plan_that_would_run(asking: Asking, mode: str) -> None:
    found = asking.run(f"EXPLAIN {mode} SELECT id FROM lake.shop.orders WHERE id = 3", READER)
    assert [column.name for column in found.columns] == ["plan"]
    [row] = found.rows.to_pylist()
    assert "== Physical Plan ==" in row["plan"]
    bound = asking.run(
        f"EXPLAIN {mode} SELECT id FROM lake.shop.orders WHERE id = :id",
        READER,
        parameters={"id": Parameter(3)},
    )
    assert "Physical Plan" in bound.rows.to_pylist()[0]["plan"]


def test_explain_has_all_checks_of_its_query(asking: Asking) -> None:
    for who in (FILTERED, MASKED):
        [(plan,)] = asking.rows("EXPLAIN SELECT * FROM lake.shop.orders", who)
        assert plan == "Policies restrict what this query reads, so its plans are not shown."
    assert asking.error("EXPLAIN SHOW TABLES").startswith("STATEMENT_NOT_ALLOWED")
    assert asking.error("EXPLAIN DROP TABLE lake.shop.items").startswith("STATEMENT_NOT_ALLOWED")
    assert asking.error("EXPLAIN EXPLAIN SELECT 1").startswith("STATEMENT_NOT_ALLOWED")
    assert asking.error("EXPLAIN CODEGEN SELECT 1").startswith("STATEMENT_NOT_ALLOWED")
    assert asking.error("EXPLAIN SELECT reflect('a', 'b')").startswith("STATEMENT_NOT_ALLOWED")
    assert asking.error("EXPLAIN SELECT repeat('a', 1000000000)").startswith("QUERY_TOO_LARGE")


def test_an_engine_that_gets_the_word_explain_does_the_same(asking: Asking) -> None:
    statement = replace(asking.statement("SELECT 1"), sql="EXPLAIN EXTENDED SELECT 1")
    result = asking.engine.run(statement)
    assert "== Analyzed Logical Plan ==" in result.rows.to_pylist()[0]["plan"]


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW TABLE EXTENDED IN lake.shop LIKE '*' PARTITION (day = '2024-01-01')",
        "SHOW TABLE EXTENDED IN lake LIKE '*'",
        "SHOW TABLE EXTENDED IN spark_catalog.default LIKE '*'",
        "SHOW TABLE EXTENDED IN IDENTIFIER('lake.' || 'shop') LIKE '*'",
        "DESCRIBE TABLE lake.shop.orders PARTITION (day = '2024-01-01')",
        "DESCRIBE TABLE EXTENDED lake.shop.orders AS JSON",
        "DESCRIBE FUNCTION lake.system.bucket",
        "SHOW PROCEDURES",
        "DESCRIBE QUERY SELECT TRANSFORM (1) USING 'cat' AS (a)",
        "SHOW TABLES IN IDENTIFIER('lake.' || 'shop')",
    ],
)
def test_other_statements_are_refused(asking: Asking, sql: str) -> None:
    assert asking.error(sql).partition(":")[0] in ("STATEMENT_NOT_ALLOWED", "SQL_SYNTAX"), sql


def test_rows_of_metadata_stay_within_the_limit(asking: Asking) -> None:
    result = asking.run("SHOW TABLES IN lake.shop", row_limit=1)
    assert (result.rows.num_rows, result.is_truncated) == (1, True)


# ---- POST /describe -------------------------------------------------------------------------------


def described(
    asking: Asking, sql: str, who: Access = FULL_ACCESS, **parameters: Parameter
) -> tuple[list[tuple[str, str]], dict[str, str | None]]:
    found = asking.engine.describe(asking.statement(sql, who, parameters=parameters))
    columns = [(column.name, column.type_name) for column in found.columns]
    return columns, {parameter.name: parameter.type_name for parameter in found.parameters}


def test_a_query_is_described_without_values(asking: Asking) -> None:
    sql = (
        "SELECT id, card, day FROM lake.shop.orders WHERE id = :id AND card LIKE :like"
        " AND day BETWEEN :since AND DATE'2024-02-01' AND id = :both AND day = :both"
    )
    columns, parameters = described(asking, sql)
    assert columns == [("id", "BIGINT"), ("card", "STRING"), ("day", "DATE")]
    assert parameters == {"id": "BIGINT", "like": "STRING", "since": "DATE", "both": None}
    assert described(asking, "SELECT ? AS a, id + ? AS b FROM lake.shop.items")[1] == {
        "1": None,
        "2": "BIGINT",
    }


def test_values_decide_where_they_are_given(asking: Asking) -> None:
    columns, parameters = described(
        asking, "SELECT :a AS a, :b AS b", a=Parameter(1), b=Parameter("2024-01-01", "DATE")
    )
    assert columns == [("a", "INT"), ("b", "DATE")]
    assert parameters == {"a": "INT", "b": "DATE"}


def test_a_description_has_all_checks_of_its_query(asking: Asking) -> None:
    assert described(asking, "SELECT * FROM lake.shop.orders", MASKED)[0][1] == ("card", "STRING")
    for sql, who, code in (
        ("SELECT * FROM lake.hr.pay", READER, "TABLE_ACCESS_DENIED"),
        ("SHOW TABLES", FULL_ACCESS, "STATEMENT_NOT_ALLOWED"),
        ("DROP TABLE lake.shop.items", FULL_ACCESS, "STATEMENT_NOT_ALLOWED"),
        ("SELECT nope FROM lake.shop.items", FULL_ACCESS, "COLUMN_NOT_FOUND"),
        ("SELEC 1", FULL_ACCESS, "SQL_SYNTAX"),
    ):
        with pytest.raises(GatewayError) as raised:
            described(asking, sql, who)
        assert raised.value.code == code, sql
    with pytest.raises(ParameterUnused, match="no parameter b"):
        described(asking, "SELECT :a", b=Parameter(1))
    assert described(asking, "EXPLAIN SELECT :a + 1") == ([("plan", "STRING")], {"a": "INT"})
