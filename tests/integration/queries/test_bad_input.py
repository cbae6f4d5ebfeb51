"""For every invalid request, the answer says what is wrong, and nothing changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import JsonObject, post, problem, rows

pytestmark = pytest.mark.integration


def _tables(lake: SqlCatalog) -> dict[str, str]:
    names = [table for schema in lake.list_namespaces() for table in lake.list_tables(schema)]
    return {".".join(name): lake.load_table(name).metadata_location for name in names}


@pytest.fixture(autouse=True)
def nothing_changes(gateway: httpx.Client, lake: SqlCatalog) -> Iterator[None]:
    """Checks after each test that the gateway still answers and no table has changed."""
    before = _tables(lake)
    yield
    assert rows(gateway, "SELECT 1") == [[1]]
    assert _tables(lake) == before


@pytest.mark.parametrize(
    ("sql", "line", "column"),
    [
        ("SELEC 1", 1, 1),
        ("SELECT 1\nFROM sales\nWHER month = 2", 3, 6),
        ("SELECT 'open", 1, 8),
        ("SELECT (1", 1, 10),
        ("SELECT 1 +", 1, 11),
        ("🙂", 1, 1),
    ],
)
def test_sql_that_does_not_parse_is_answered_with_its_place(
    gateway: httpx.Client, sql: str, line: int, column: int
) -> None:
    found = problem(post(gateway, sql), 422, "SQL_SYNTAX")
    assert (found["errors"][0]["line"], found["errors"][0]["column"]) == (line, column), found


@pytest.mark.parametrize(
    ("sql", "nearest"),
    [
        ("SELECT * FROM salez", "lake.shop.sales"),
        ("SELECT * FROM shop.calender", "lake.shop.calendar"),
        ("SELECT * FROM lake.shop_archive.sales_2018", "lake.shop_archive.sales_2019"),
        ("SELECT 1 WHERE 1 IN (SELECT return_id FROM retuns)", "lake.shop.returns"),
    ],
)
def test_an_unknown_table_is_answered_with_the_nearest_names(
    gateway: httpx.Client, sql: str, nearest: str
) -> None:
    found = problem(post(gateway, sql), 404, "TABLE_NOT_FOUND")
    assert nearest in found["errors"][0]["nearest"]
    assert nearest in found["detail"]


def test_an_unknown_column_is_answered_with_the_nearest_names_and_its_place(gateway: httpx.Client) -> None:
    found = problem(post(gateway, "SELECT sale_id,\n  amunt FROM sales"), 422, "COLUMN_NOT_FOUND")
    [error] = found["errors"]
    assert error["nearest"][0].split(".")[-1] == "amount"
    assert (error["line"], error["column"]) == (2, 3)


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("", 422, "SQL_EMPTY"),
        (" \n\t;;", 422, "SQL_EMPTY"),
        ("-- only a comment", 422, "SQL_EMPTY"),
        ("/* only\na comment */", 422, "SQL_EMPTY"),
        ("SELECT 1; SELECT 2", 422, "SQL_MANY_STATEMENTS"),
        ("SELECT 1; DROP TABLE sales", 422, "SQL_MANY_STATEMENTS"),
        ("SELECT nothing_of_the_kind(1)", 422, "SQL_INVALID"),
        ("SELECT 1 + DATE'2000-01-01' + array(1)", 422, "SQL_INVALID"),
        ("SELECT day_key FROM sales GROUP BY sale_id", 422, "SQL_INVALID"),
        ("SELECT day_key FROM sales JOIN calendar ON true", 422, "SQL_INVALID"),
        ("SELECT 1 UNION SELECT 1, 2", 422, "SQL_INVALID"),
        ("SELECT (SELECT sale_id FROM sales)", 422, "QUERY_FAILED"),
        ("SELECT 1 / 0", 422, "QUERY_FAILED"),
        ("SELECT CAST('x' AS INT)", 422, "QUERY_FAILED"),
        ("SELECT 2147483647 + 1", 422, "QUERY_FAILED"),
        ("SELECT element_at(array(1), 5)", 422, "QUERY_FAILED"),
        ("DROP TABLE sales", 403, "SQL_WRITES_OFF"),
        ("INSERT INTO returns VALUES (1, 'x')", 403, "SQL_WRITES_OFF"),
        ("INSERT OVERWRITE returns VALUES (1, 'x')", 403, "SQL_WRITES_OFF"),
        ("UPDATE sales SET amount = 0", 403, "SQL_WRITES_OFF"),
        ("DELETE FROM sales", 403, "SQL_WRITES_OFF"),
        ("MERGE INTO sales USING calendar ON true WHEN MATCHED THEN DELETE", 403, "SQL_WRITES_OFF"),
        ("TRUNCATE TABLE sales", 403, "STATEMENT_NOT_ALLOWED"),
        ("ALTER TABLE sales ADD COLUMN x INT", 403, "SQL_WRITES_OFF"),
        ("CREATE TABLE x AS SELECT 1", 403, "SQL_WRITES_OFF"),
        ("CREATE TEMPORARY VIEW x AS SELECT 1", 422, "SESSION_REQUIRED"),
        ("CREATE SCHEMA x", 403, "SQL_WRITES_OFF"),
        ("CREATE TEMPORARY FUNCTION f AS 'a.B' USING JAR '/a.jar'", 403, "STATEMENT_NOT_ALLOWED"),
        ("SET spark.sql.ansi.enabled = false", 422, "SESSION_REQUIRED"),
        ("RESET", 422, "SESSION_REQUIRED"),
        ("USE shop_archive", 422, "SESSION_REQUIRED"),
        ("EXPLAIN SHOW TABLES", 403, "STATEMENT_NOT_ALLOWED"),
        ("EXPLAIN CODEGEN SELECT 1", 403, "STATEMENT_NOT_ALLOWED"),
        ("DESCRIBE slaes", 404, "TABLE_NOT_FOUND"),
        ("SHOW TABLES IN nope", 422, "SQL_INVALID"),
        ("SHOW TABLE EXTENDED LIKE 'sales' PARTITION (day_key = 1)", 403, "STATEMENT_NOT_ALLOWED"),
        ("CACHE TABLE sales", 403, "STATEMENT_NOT_ALLOWED"),
        ("REFRESH TABLE sales", 403, "STATEMENT_NOT_ALLOWED"),
        ("ADD JAR '/a.jar'", 403, "STATEMENT_NOT_ALLOWED"),
        ("CALL lake.system.rewrite_data_files('shop.sales')", 403, "SQL_WRITES_OFF"),
    ],
)
def test_sql_that_cannot_run_gets_a_stable_code(
    gateway: httpx.Client, sql: str, status: int, code: str
) -> None:
    problem(post(gateway, sql), status, code)


def test_a_failure_at_run_time_names_its_cause(gateway: httpx.Client) -> None:
    found = problem(post(gateway, "SELECT raise_error('the cause') FROM sales"), 422, "QUERY_FAILED")
    assert "the cause" in found["detail"]
    found = problem(post(gateway, "SELECT sum(1 / (sale_id - sale_id)) FROM sales"), 422, "QUERY_FAILED")
    assert found["detail"].startswith("Division by zero")


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 400, "NOT_JSON"),
        (b"SELECT 1", 400, "NOT_JSON"),
        (b'{"sql": "SELECT 1"', 400, "NOT_JSON"),
        (b'{"sql": "SELECT 1"} {}', 400, "NOT_JSON"),
        (b"\xff\xfe", 400, "NOT_JSON"),
        (b"[" * 10_000, 400, "NOT_JSON"),
        (b"[" * 100_000, 422, "INVALID_REQUEST"),
        (b"[]", 422, "INVALID_REQUEST"),
        (b"null", 422, "INVALID_REQUEST"),
        (b"{}", 422, "INVALID_REQUEST"),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(
    gateway: httpx.Client, content: bytes, status: int, code: str
) -> None:
    response = gateway.post("/query", content=content, headers={"Content-Type": "application/json"})
    if content == b"null":
        assert response.status_code in (400, 422)
        return
    problem(response, status, code)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_content_type_is_refused(gateway: httpx.Client, content_type: str) -> None:
    content = json.dumps({"sql": "SELECT 1"}).encode()
    response = gateway.post("/query", content=content, headers={"Content-Type": content_type})
    problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sql", 1),
        ("sql", None),
        ("sql", ["SELECT 1"]),
        ("catalog", 1),
        ("schema", ""),
        ("waitTimeout", 10),
        ("waitTimeout", "10"),
        ("waitTimeout", "51s"),
        ("waitTimeout", "-1s"),
        ("onWaitTimeout", "STOP"),
        ("timeout", "0s"),
        ("timeout", "100000s"),
        ("rowLimit", 0),
        ("rowLimit", "10"),
        ("rowLimit", 1.5),
        ("rowLimit", 10**12),
        ("byteLimit", -1),
        ("format", "XML"),
        ("requestId", "not-a-uuid"),
        ("tags", {"a": 1}),
        ("tags", []),
        ("parameters", {"a": {"value": 1, "kind": "INT"}}),
        ("wait_timeout", "1s"),
        ("sqll", "SELECT 1"),
    ],
)
def test_a_field_that_is_unknown_or_of_a_wrong_type_is_named(
    gateway: httpx.Client, field: str, value: Any
) -> None:
    body: JsonObject = {"sql": "SELECT 1"} | {field: value}
    found = problem(gateway.post("/query", json=body), 422, "INVALID_REQUEST")
    assert found["errors"][0]["pointer"].startswith(f"/{field}")


def test_a_text_of_five_megabytes_is_refused(gateway: httpx.Client) -> None:
    text = "SELECT '" + "x" * 5_000_000 + "'"
    problem(post(gateway, text), 413, "BODY_TOO_LARGE")
    problem(post(gateway, text[:2_000_000] + "'"), 413, "SQL_TOO_LARGE")


def test_a_text_that_is_deep_or_wide_gets_an_answer(gateway: httpx.Client) -> None:
    for sql in (
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
        "SELECT " + " + ".join("1" for _ in range(5000)),
        "SELECT 1 WHERE 1 IN (" + ", ".join(str(number) for number in range(20_000)) + ")",
        "FROM " * 20_000 + "t",
    ):
        response = post(gateway, sql)
        assert response.status_code in (200, 422), response.text
        if response.status_code != 200:
            problem(response, 422, response.json()["code"])


def test_addresses_and_methods_that_do_not_exist_are_problems_too(gateway: httpx.Client) -> None:
    problem(gateway.get("/nowhere"), 404, "ROUTE_NOT_FOUND")
    problem(gateway.put("/query", json={}), 405, "METHOD_NOT_ALLOWED")
    problem(gateway.get("/tables/sales"), 422, "INVALID_REQUEST")
    problem(gateway.get("/tables", params={"katalog": "lake"}), 422, "INVALID_REQUEST")
    problem(gateway.get("/tables", params={"schema": "a\0"}), 422, "INVALID_REQUEST")
    problem(gateway.get("/tables/lake.shop.a%00"), 422, "INVALID_REQUEST")
    problem(gateway.post("/tables/lake.shop.a%00/maintenance", json={}), 422, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "content",
    [
        b'{"sql": "SELECT \'\\ud800\'"}',
        b'{"sql": "SELECT ?", "parameters": ["\\udc00"]}',
        b'{"sql": "SELECT :a", "parameters": {"a": {"value": "\\udc00", "type": "STRING"}}}',
        b'{"sql": "SELECT 1", "tags": {"a": "\\ud800"}}',
        b'{"sql": "SELECT 1", "tags": {"\\ud800": "a"}}',
        b'{"sql": "SELECT 1", "schema": "\\ud800"}',
    ],
)
def test_half_of_a_surrogate_pair_is_refused(gateway: httpx.Client, content: bytes) -> None:
    response = gateway.post("/query", content=content, headers={"Content-Type": "application/json"})
    problem(response, 422, "INVALID_REQUEST")


@pytest.mark.parametrize("text", [r"\ud800", r"\u0000"])
@pytest.mark.parametrize("asked", ['"evolve": true', '"create": {}'])
@pytest.mark.parametrize(
    "field", ['{"name": "a%s", "type": "int"}', '{"name": "a", "type": "int", "doc": "%s"}']
)
def test_a_schema_that_no_catalog_could_keep_is_refused(
    gateway: httpx.Client, field: str, asked: str, text: str
) -> None:
    schema = f'{{"fields": [{field % text}]}}'
    body = f'{{"table": "lake.shop.kept", "schema": {schema}, {asked}, "records": [{{}}]}}'
    response = gateway.post("/ingest", content=body, headers={"Content-Type": "application/json"})
    problem(response, 422, "INGEST_INVALID")
