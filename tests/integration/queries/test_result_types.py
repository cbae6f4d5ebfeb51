"""Every type that Spark can return, alone and nested, with and without rows, in every format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.integration.asking import ask, rows

pytestmark = pytest.mark.integration

TEXT = object()
"""Marks values without an Arrow type, for which Spark's text of the whole value is returned."""

SCALARS: Mapping[str, tuple[str, Any]] = {
    "boolean": ("true", True),
    "tinyint": ("1Y", 1),
    "smallint": ("1S", 1),
    "int": ("1", 1),
    "bigint": ("1L", 1),
    "float": ("1.5F", 1.5),
    "double": ("1.5D", 1.5),
    "decimal_1_0": ("CAST(1 AS DECIMAL(1,0))", "1"),
    "decimal_38_38": ("CAST(0.1 AS DECIMAL(38,38))", "0.1" + "0" * 37),
    "decimal_38_0": ("CAST(-7 AS DECIMAL(38,0))", "-7"),
    "string": ("'a'", "a"),
    "char": ("CAST('a' AS CHAR(3))", "a"),
    "varchar": ("CAST('a' AS VARCHAR(3))", "a"),
    "collated": ("'a' COLLATE UTF8_LCASE", "a"),
    "icu_collated": ("'a' COLLATE UNICODE_CI", "a"),
    "binary": ("X'00FF'", "AP8="),
    "date": ("DATE'2000-01-02'", "2000-01-02"),
    "timestamp": ("TIMESTAMP'2000-01-02 03:04:05Z'", "2000-01-02T03:04:05+00:00"),
    "timestamp_ntz": ("TIMESTAMP_NTZ'2000-01-02 03:04:05'", "2000-01-02T03:04:05"),
    "days": ("INTERVAL '1' DAY", "P1D"),
    "day_to_second": ("INTERVAL '1 02:03:04.5' DAY TO SECOND", "P1DT2H3M4.5S"),
    "void": ("NULL", None),
    "empty_array": ("array()", []),
    "empty_map": ("map()", {}),
    "map": ("map('a', 1)", {"a": 1}),
    "empty_struct": ("named_struct()", {}),
    "struct": ("struct(1 AS x)", {"x": 1}),
    "twice_named": ("struct(1 AS x, 2 AS x)", [{"name": "x", "value": 1}, {"name": "x", "value": 2}]),
    "void_struct": ("named_struct('a', map())", {"a": {}}),
    "time": ("TIME'01:02:03.5'", "01:02:03.5"),
    "year_month": ("INTERVAL '1-2' YEAR TO MONTH", TEXT),
    "years": ("INTERVAL '1' YEAR", TEXT),
    "calendar_interval": ("make_interval(1, 2, 3, 4, 5, 6, 7.5)", TEXT),
    "variant": ("parse_json('{\"a\":1}')", TEXT),
}
SHAPES: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "alone": ("{}", lambda value: value),
    "array": ("array({})", lambda value: [value]),
    "no_elements": ("slice(array({}), 1, 0)", lambda _: []),
    "struct": ("named_struct('f', {})", lambda value: {"f": value}),
    "map_value": ("map('k', {})", lambda value: {"k": value}),
    "deep": ("array(named_struct('f', map('k', array({}))))", lambda value: [{"f": {"k": [value]}}]),
    "collected": ("array(array({}), slice(array({}), 1, 0))", lambda value: [[value], []]),
    "optional": (
        "IF(id % 2 = 1, named_struct('f', {}), NULL)",
        lambda value: {"f": value},
    ),
    "map_key": ("map({}, 1)", lambda value: {value: 1} if isinstance(value, str) else None),
}
NO_KEYS = {"void", "variant", "map", "empty_map", "void_struct", "calendar_interval"}
# Spark's generated code does not support NULL of this type.
NO_NULLS = {"time"}


def columns_of(shape: str) -> dict[str, tuple[str, Any]]:
    """Returns SQL and expected value by column name."""
    template, expected = SHAPES[shape]
    left_out = {"map_key": NO_KEYS, "optional": NO_NULLS}.get(shape, set())
    return {
        name: (template.replace("{}", sql), TEXT if value is TEXT else expected(value))
        for name, (sql, value) in SCALARS.items()
        if name not in left_out
    }


@pytest.mark.parametrize("row_limit", [10, 30_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_is_answered_in_every_format(shape: str, row_limit: int, gateway: httpx.Client) -> None:
    columns = columns_of(shape)
    selected = ", ".join(f"{sql} AS {name}" for name, (sql, _) in columns.items())
    sql = f"SELECT {selected} FROM range(1, 4, 2)"
    answer = ask(gateway, sql, rowLimit=row_limit)
    for row in answer["result"]["rows"]:
        for (name, (_, expected)), value in zip(columns.items(), row, strict=True):
            if expected is TEXT or (shape == "map_key" and expected is None):
                assert value is not None, name
            elif shape == "map_key":
                # JSON keys are strings; maps with other keys become lists of entries.
                is_text = columns[name][0].startswith(("map('", "map(CAST('a'"))
                assert value == (expected if is_text else [{"key": next(iter(expected)), "value": 1}]), name
            else:
                assert value == expected, name
    path = f"/query/{answer['queryId']}/chunks/0"
    lines = list(csv.reader(io.StringIO(gateway.get(f"{path}?format=CSV").text)))
    table = pa.ipc.open_stream(gateway.get(f"{path}?format=ARROW_STREAM").content).read_all()
    table.validate(full=True)
    assert (lines[0], len(lines), table.num_rows) == (list(columns), 3, 2)
    assert table.column_names == list(columns)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_is_downloaded_in_every_format(shape: str, gateway: httpx.Client) -> None:
    fits = [f"{sql} AS {name}" for name, (sql, _) in columns_of(shape).items() if name != "empty_struct"]
    answer = ask(gateway, f"SELECT {', '.join(fits)} FROM range(1, 4, 2)", rowLimit=10)
    path = f"/query/{answer['queryId']}"
    lines = gateway.get(f"{path}/result?format=JSON_LINES").text.splitlines()
    assert [list(json.loads(line).values()) for line in lines] == answer["result"]["rows"]
    assert gateway.get(f"{path}/result?format=CSV").text == gateway.get(f"{path}/chunks/0?format=CSV").text
    table = pa.ipc.open_stream(gateway.get(f"{path}/chunks/0?format=ARROW_STREAM").content).read_all()
    stream = gateway.get(f"{path}/result?format=ARROW_STREAM").content
    assert pa.ipc.open_stream(stream).read_all().equals(table)
    parquet = gateway.get(f"{path}/result?format=PARQUET")
    assert parquet.status_code == 200, parquet.text
    assert pq.read_table(io.BytesIO(parquet.content)).equals(table)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_rows_of_any_type_are_answered_in_every_format(shape: str, gateway: httpx.Client) -> None:
    columns = columns_of(shape)
    selected = ", ".join(f"{sql} AS {name}" for name, (sql, _) in columns.items())
    answer = ask(gateway, f"SELECT {selected} FROM range(0)", rowLimit=30_000)
    assert (answer["result"]["rows"], answer["manifest"]["totalRowCount"]) == ([], 0)
    path = f"/query/{answer['queryId']}/chunks/0"
    assert len(gateway.get(f"{path}?format=CSV").text.splitlines()) == 1
    table = pa.ipc.open_stream(gateway.get(f"{path}?format=ARROW_STREAM").content).read_all()
    assert (table.column_names, table.num_rows) == (list(columns), 0)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT collect_list(NULL)", [[[]]]),
        ("VALUES (1, NULL), (2, array())", [[1, None], [2, []]]),
        ("SELECT map_keys(map()), map_values(map())", [[[], []]]),
        ("SELECT NULL AS a, NULL AS a UNION ALL SELECT NULL, NULL", [[None, None], [None, None]]),
    ],
)
def test_void_is_answered_wherever_it_stands(
    sql: str, expected: list[list[object]], gateway: httpx.Client
) -> None:
    assert rows(gateway, sql) == expected


@pytest.mark.parametrize("levels", [40, 70, 300])
def test_a_type_of_any_depth_is_answered(levels: int, gateway: httpx.Client) -> None:
    kind, value = "array<" * levels + "int" + ">" * levels, "[" * levels + "1" + "]" * levels
    [[found]] = rows(gateway, f"SELECT from_json('{value}', '{kind}')")
    assert (json.loads(found) if isinstance(found, str) else found) == json.loads(value)


@pytest.mark.parametrize("row_limit", [1, 2, 10, 30_000])
@pytest.mark.parametrize(
    ("relation", "count"),
    [
        ("VALUES (1), (2) AS t(a)", 2),
        ("(SELECT * FROM VALUES (1), (2) AS t(a) WHERE a > 5)", 0),
        ("(SELECT id AS a FROM range(0, 25000, 1, 3))", 25_000),
        ("(SELECT /*+ REPARTITION(3) */ id AS a FROM range(7))", 7),
    ],
)
def test_rows_without_columns_are_counted(
    relation: str, count: int, row_limit: int, gateway: httpx.Client
) -> None:
    expected = min(count, row_limit)
    answer = ask(gateway, f"SELECT * EXCEPT (a) FROM {relation}", rowLimit=row_limit)
    manifest = answer["manifest"]
    assert (manifest["totalRowCount"], manifest["columns"]) == (expected, [])
    assert manifest["truncated"] == (count > row_limit)
    counts = {"JSON": 0, "CSV": 0, "ARROW_STREAM": 0}
    for index in range(manifest["chunkCount"]):
        path = f"/query/{answer['queryId']}/chunks/{index}"
        counts["JSON"] += len(gateway.get(path).json()["rows"])
        text = gateway.get(f"{path}?format=CSV").text
        counts["CSV"] += text.count("\r\n") - (index == 0)
        stream = gateway.get(f"{path}?format=ARROW_STREAM").content
        counts["ARROW_STREAM"] += pa.ipc.open_stream(stream).read_all().num_rows
    assert counts == dict.fromkeys(counts, expected)
