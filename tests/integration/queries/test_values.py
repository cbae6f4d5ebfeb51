"""Every type as JSON, and results of unusual shapes."""

from __future__ import annotations

import csv
import io
from typing import Any

import httpx
import pytest

from tests.integration.asking import ask, post, rows

pytestmark = pytest.mark.integration

# Name, type and value of each column, in a row without NULL.
VALUES: list[tuple[str, str, Any]] = [
    ("id", "INT", 1),
    ("a_boolean", "BOOLEAN", True),
    ("a_long", "BIGINT", 9_223_372_036_854_775_807),
    ("a_float", "FLOAT", 0.1),
    ("a_double", "DOUBLE", -2.5e-300),
    ("a_decimal", "DECIMAL(38,10)", "-1234567890123456789012345678.0000000001"),
    ("a_date", "DATE", "1582-10-15"),
    ("a_timestamp", "TIMESTAMP_NTZ", "2024-02-29T23:59:59.999999"),
    ("a_timestamptz", "TIMESTAMP", "2024-02-29T23:59:59+00:00"),
    ("a_string", "STRING", 'é "quoted" \\ 😀\n'),
    ("a_binary", "BINARY", "AP8Q"),
    ("a_fixed", "BINARY", "AQIDBA=="),
    ("a_list", "ARRAY<INT>", [1, None, 3]),
    ("a_map", "MAP<STRING, DOUBLE>", {"one": 1.5, "none": None}),
    ("an_int_map", "MAP<INT, STRING>", [{"key": 7, "value": "seven"}]),
    (
        "a_struct",
        "STRUCT<x: INT, deep: ARRAY<STRUCT<y: DECIMAL(5,2)>>>",
        {"x": 5, "deep": [{"y": "1.50"}, None]},
    ),
]


def test_every_type_of_a_table_has_its_json_value(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT * FROM every_type WHERE id = 1")

    columns = [(column["name"], column["type"]) for column in answer["manifest"]["columns"]]
    assert columns == [(name, type_name) for name, type_name, _ in VALUES]
    assert answer["result"]["rows"] == [[value for _, _, value in VALUES]]


def test_null_is_null_whatever_the_type(gateway: httpx.Client) -> None:
    assert rows(gateway, "SELECT * FROM every_type WHERE id = 2") == [[2] + [None] * (len(VALUES) - 1)]


def test_numbers_that_json_cannot_spell_are_strings(gateway: httpx.Client) -> None:
    found = rows(
        gateway, "SELECT a_float, a_double, a_list, a_map FROM every_type WHERE id IN (3, 4) ORDER BY id"
    )
    assert found == [["NaN", "NaN", None, None], ["Infinity", "-Infinity", [], {}]]


@pytest.mark.parametrize(
    ("expression", "type_name", "value"),
    [
        ("CAST(-128 AS TINYINT)", "TINYINT", -128),
        ("CAST(NULL AS STRING)", "STRING", None),
        ("NULL", "VOID", None),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND", "INTERVAL DAY TO SECOND", "P1DT2H3M4.5S"),
        ("TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ", "0001-01-01T00:00:00"),
        ("TIMESTAMP'2024-01-01 12:00:00.25+02:00'", "TIMESTAMP", "2024-01-01T10:00:00.250000+00:00"),
        ("DATE'9999-12-31'", "DATE", "9999-12-31"),
        ("CAST('0.00000001' AS DECIMAL(38,8))", "DECIMAL(38,8)", "0.00000001"),
        ("named_struct()", "STRUCT<>", {}),
        ("array(array(1), array())", "ARRAY<ARRAY<INT>>", [[1], []]),
        ("map('k', array(named_struct('a', 1)))", "MAP<STRING, ARRAY<STRUCT<a: INT>>>", {"k": [{"a": 1}]}),
        ("X''", "BINARY", ""),
        ("'\\u0000'", "STRING", "\x00"),
        ("parse_json('{\"a\": [1, null]}')", "VARIANT", '{"a":[1,null]}'),
    ],
)
def test_every_type_of_an_expression_has_its_json_value(
    gateway: httpx.Client, expression: str, type_name: str, value: object
) -> None:
    answer = ask(gateway, f"SELECT {expression} AS v")
    assert answer["result"]["rows"] == [[value]]
    assert answer["manifest"]["columns"][0]["type"] == type_name


@pytest.mark.parametrize(
    "expression", ["INTERVAL '1-2' YEAR TO MONTH", "make_interval(1, 2, 0, 3)", "array(parse_json('1'))"]
)
def test_types_without_an_arrow_type_are_answered_as_text(gateway: httpx.Client, expression: str) -> None:
    [[value]] = rows(gateway, f"SELECT {expression} AS v")
    assert isinstance(value, str)


def test_columns_of_one_name_keep_their_places(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT 1 AS a, 'two' AS a, parse_json('3') AS a, 4 AS A")
    assert [column["name"] for column in answer["manifest"]["columns"]] == ["a", "a", "a", "A"]
    assert answer["result"]["rows"] == [[1, "two", "3", 4]]


def test_no_rows_are_a_result_with_columns(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT * FROM sales WHERE day_key = 0")
    assert [column["name"] for column in answer["manifest"]["columns"]] == ["sale_id", "day_key", "amount"]
    assert (answer["result"]["rows"], answer["manifest"]["totalRowCount"]) == ([], 0)


@pytest.mark.parametrize(
    "sql",
    [
        "VALUES (1)",
        "TABLE (SELECT 1)",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
        "SELECT 1 UNION SELECT 1",
        "FROM VALUES (1) AS t(x) SELECT x",
        "FROM VALUES (1) AS t(x) |> SELECT x",
        "-- a comment\nSELECT /* inside */ 1;",
        "SELECT 1 WHERE EXISTS (SELECT 1)",
        "SELECT 1 LIMIT 1",
        "(SELECT 1) INTERSECT (SELECT 1)",
        "SELECT max(1) OVER ()",
        "SELECT * FROM (SELECT 1 AS a) LATERAL VIEW explode(array(1)) AS b WHERE b = 1",
    ],
)
def test_all_kinds_of_queries_are_answered(gateway: httpx.Client, sql: str) -> None:
    response = post(gateway, sql)
    if sql.startswith("TABLE ("):
        assert response.status_code == 422
        return
    assert response.status_code == 200, response.text
    assert response.json()["result"]["rows"][0][0] == 1


def test_a_column_name_may_be_anything(gateway: httpx.Client) -> None:
    answer = ask(gateway, 'SELECT 1 AS `a.b "c" é`')
    assert answer["manifest"]["columns"][0]["name"] == 'a.b "c" é'


def test_csv_tells_null_from_an_empty_string(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT 'a,\"b\"' AS x, '' AS y, CAST(NULL AS STRING) AS z", format="CSV")
    text = gateway.get(answer["result"]["nextChunkLink"]).text
    assert text == 'x,y,z\r\n"a,""b""","",\r\n'
    assert next(csv.reader(io.StringIO(text.splitlines()[1]))) == ['a,"b"', "", ""]


@pytest.mark.parametrize("row_limit", [10, 30_000])
def test_a_struct_may_be_null_though_its_fields_are_required(gateway: httpx.Client, row_limit: int) -> None:
    # Spark knows that `id` is never NULL, as it does of a table's required fields.
    struct = "IF(id % 2 = 0, named_struct('x', id, 'deep', array(named_struct('y', id))), NULL)"
    sql = f"SELECT id, {struct} AS s, array({struct}) AS l, map('k', {struct}) AS m FROM range(5000)"
    assert rows(gateway, f"SELECT * FROM ({sql}) ORDER BY id", rowLimit=row_limit)[:3] == [
        [number, value, [value], {"k": value}]
        for number, value in enumerate([{"x": 0, "deep": [{"y": 0}]}, None, {"x": 2, "deep": [{"y": 2}]}])
    ]
