"""Parameter values are sent apart from the text and can never become part of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import ask, post, problem, rows

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("sent", "type_name", "value"),
    [
        (True, "BOOLEAN", True),
        (7, "INT", 7),
        (3_000_000_000, "BIGINT", 3_000_000_000),
        (1.5, "DOUBLE", 1.5),
        ("text", "STRING", "text"),
        (None, "VOID", None),
        ({"value": "x", "type": "STRING"}, "STRING", "x"),
        ({"value": False, "type": "boolean"}, "BOOLEAN", False),
        ({"value": -128, "type": "TINYINT"}, "TINYINT", -128),
        ({"value": 32767, "type": "SMALLINT"}, "SMALLINT", 32767),
        ({"value": -2147483648, "type": "INT"}, "INT", -2147483648),
        ({"value": "-9223372036854775808", "type": "BIGINT"}, "BIGINT", -9223372036854775808),
        ({"value": 0.1, "type": "FLOAT"}, "FLOAT", 0.1),
        ({"value": -1.5e-300, "type": "DOUBLE"}, "DOUBLE", -1.5e-300),
        ({"value": 7, "type": "DOUBLE"}, "DOUBLE", 7.0),
        ({"value": "2000-02-29", "type": "DATE"}, "DATE", "2000-02-29"),
        ({"value": "2000-01-01T12:00+02:00", "type": "TIMESTAMP"}, "TIMESTAMP", "2000-01-01T10:00:00+00:00"),
        (
            {"value": "2000-01-01T12:00:00.5", "type": "TIMESTAMP_NTZ"},
            "TIMESTAMP_NTZ",
            "2000-01-01T12:00:00.500000",
        ),
        ({"value": "AP8=", "type": "BINARY"}, "BINARY", "AP8="),
    ],
)
def test_every_type_arrives_as_what_it_is(
    gateway: httpx.Client, sent: Any, type_name: str, value: object
) -> None:
    named = ask(gateway, "SELECT :p AS v", parameters={"p": sent})
    positional = ask(gateway, "SELECT ? AS v", parameters=[sent])
    for answer in (named, positional):
        assert answer["result"]["rows"] == [[value]]
        assert answer["manifest"]["columns"][0]["type"] == type_name


@pytest.mark.parametrize("value", ["12345.60", 12345.6, "-99999.99"])
def test_a_decimal_is_exact(gateway: httpx.Client, value: object) -> None:
    parameters = {"p": {"value": value, "type": "DECIMAL(7,2)"}}
    [[found]] = rows(gateway, "SELECT :p + CAST(0 AS DECIMAL(7,2)) AS v", parameters=parameters)
    assert found == f"{float(str(value)):.2f}"


def test_a_name_may_stand_in_the_text_more_than_once(gateway: httpx.Client) -> None:
    assert rows(gateway, "SELECT :a + :b * :a", parameters={"a": 2, "b": 5}) == [[12]]


def test_positions_count_from_the_left(gateway: httpx.Client) -> None:
    assert rows(gateway, "SELECT ?, ?, ?", parameters=[1, "two", 3.5]) == [[1, "two", 3.5]]


def test_a_parameter_prunes_like_a_literal(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT sale_id FROM sales WHERE day_key = :day", parameters={"day": 2_451_550})
    assert answer["pruning"]["dataFiles"] == {"total": 40, "selected": 1}


@pytest.mark.parametrize(
    ("sql", "parameters", "code"),
    [
        ("SELECT :a", {}, "PARAMETER_MISSING"),
        ("SELECT :a, :b", {"a": 1}, "PARAMETER_MISSING"),
        ("SELECT ?, ?", [1], "PARAMETER_MISSING"),
        ("SELECT ?", {}, "PARAMETER_MISSING"),
        ("SELECT 1", {"a": 1}, "PARAMETER_UNUSED"),
        ("SELECT ':a'", {"a": 1}, "PARAMETER_UNUSED"),
        ("SELECT 1 -- :a", {"a": 1}, "PARAMETER_UNUSED"),
        ("SELECT ?", [1, 2], "PARAMETER_UNUSED"),
        ("SELECT :a", [1], "PARAMETER_UNUSED"),
        ("SELECT :a", {"a": {"value": "2000-02-30", "type": "DATE"}}, "PARAMETER_INVALID"),
        ("SELECT :a", {"a": {"value": 300, "type": "TINYINT"}}, "PARAMETER_INVALID"),
        ("SELECT :a", {"a": {"value": "1.234", "type": "DECIMAL(5,2)"}}, "PARAMETER_INVALID"),
        ("SELECT :a", {"a": {"value": "1", "type": "BOOLEAN"}}, "PARAMETER_INVALID"),
        ("SELECT :a", {"a": {"value": "?!", "type": "BINARY"}}, "PARAMETER_INVALID"),
        ("SELECT :a", {"a": {"value": "1", "type": "GEOMETRY"}}, "PARAMETER_INVALID"),
        ("SELECT :a", {"a": {"value": "1", "type": "INT); DROP TABLE sales"}}, "INVALID_REQUEST"),
        ("SELECT :a", {"a": [1]}, "INVALID_REQUEST"),
        ("SELECT :a", {"a b": 1}, "INVALID_REQUEST"),
        ("SELECT :a", "a", "INVALID_REQUEST"),
    ],
)
def test_values_that_do_not_fit_are_named(
    gateway: httpx.Client, sql: str, parameters: object, code: str
) -> None:
    problem(post(gateway, sql, parameters=parameters), 422, code)


@pytest.mark.parametrize(
    "value",
    ["'; DROP TABLE shop.sales; --", "' OR '1'='1", "x' UNION SELECT * FROM shop.sales --", "\\' OR 1=1 --"],
)
def test_sql_in_a_value_is_only_text(gateway: httpx.Client, lake: SqlCatalog, value: str) -> None:
    before = lake.load_table("shop.sales").metadata_location
    typed = {"value": value, "type": "STRING"}
    for parameters in ({"p": value}, {"p": typed}):
        assert rows(gateway, "SELECT :p AS v", parameters=parameters) == [[value]]
        assert rows(gateway, "SELECT 1 FROM calendar WHERE day_name = :p", parameters=parameters) == []
    assert lake.load_table("shop.sales").metadata_location == before


def test_a_parameter_cannot_name_a_table(gateway: httpx.Client) -> None:
    response = post(gateway, "SELECT count(*) FROM :t", parameters={"t": "shop.sales"})
    assert response.status_code == 422, response.text
