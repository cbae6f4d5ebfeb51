"""Extreme values of every type, each in files without the other types, in all readers."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo, NotNull, Reference
from pyiceberg.expressions.literals import literal
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from tests.integration.asking import rows
from tests.integration.readers import (
    Row,
    assert_read_alike,
    assert_read_alike_without_spark,
    by_duckdb,
    by_spark,
    data_files,
    named,
    path_of,
)

pytestmark = pytest.mark.integration


@dataclass(frozen=True, slots=True)
class Column:
    """A type, its values in JSON and in Python, and the SQL of the first value."""

    kind: IcebergType
    values: list[tuple[Any, Any]]
    sql: str = ""


def same(*values: Any) -> list[tuple[Any, Any]]:
    return [(value, value) for value in values]


def spelled(read: Any, *texts: str) -> list[tuple[Any, Any]]:
    return [(text, read(text)) for text in texts]


def in_base64(*values: bytes) -> list[tuple[Any, Any]]:
    return [(base64.b64encode(value).decode(), value) for value in values]


def narrow(value: float) -> float:
    return float(np.float32(value))


LARGEST = "9" * 38
# Nothing equals NaN, and PyIceberg treats numbers beyond the largest float as never equal.
UNASKED = (NAN := float("nan"), float("inf"))
COLUMNS = {
    "a_boolean": Column(BooleanType(), same(True, False), "true"),
    "an_int": Column(IntegerType(), same(-(2**31), 2**31 - 1, 0), "-2147483648"),
    "a_long": Column(LongType(), same(-(2**63), 2**63 - 1, 0), "-9223372036854775808L"),
    "a_float": Column(
        FloatType(),
        [
            (-3.4028234663852886e38, -3.4028234663852886e38),
            (1e-45, narrow(1e-45)),
            (0.1, narrow(0.1)),
            ("NaN", NAN),
            ("Infinity", float("inf")),
            (-0.0, -0.0),
        ],
        "float('-3.4028234663852886e38')",
    ),
    "a_double": Column(
        DoubleType(),
        [*same(1.7976931348623157e308, 5e-324, -0.0), ("NaN", NAN), ("-Infinity", float("-inf"))],
        "1.7976931348623157e308D",
    ),
    "a_decimal_9": Column(
        DecimalType(9, 2), spelled(Decimal, "-9999999.99", "9999999.99", "0.00"), "-9999999.99BD"
    ),
    "a_decimal_18": Column(
        DecimalType(18, 18), spelled(Decimal, f"-0.{LARGEST[:18]}", f"0.{'0' * 17}1"), f"-0.{LARGEST[:18]}BD"
    ),
    "a_decimal_38": Column(DecimalType(38, 0), spelled(Decimal, f"-{LARGEST}", LARGEST), f"-{LARGEST}BD"),
    "a_date": Column(
        DateType(),
        spelled(date.fromisoformat, "0001-01-01", "9999-12-31", "1582-10-10", "1969-12-31"),
        "DATE'0001-01-01'",
    ),
    "a_timestamp": Column(
        TimestampType(),
        spelled(
            datetime.fromisoformat,
            "0001-01-01T00:00:00",
            "9999-12-31T23:59:59.999999",
            "1969-12-31T23:59:59.999999",
        ),
        "TIMESTAMP_NTZ'0001-01-01 00:00:00'",
    ),
    "a_timestamptz": Column(
        TimestamptzType(),
        [
            ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
            ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
            ("1970-01-01T00:30:00+05:30", datetime(1969, 12, 31, 19, tzinfo=UTC)),
        ],
        "TIMESTAMP'0001-01-01 00:00:00Z'",
    ),
    "a_string": Column(
        StringType(), same("", "\x00", "é😀\U0010ffff\ud7ff", "x" * 3000, "\U0010ffff" * 40), "''"
    ),
    "a_uuid": Column(
        UUIDType(),
        same(
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "80000000-0000-4000-8000-000000000001",
        ),
        "'00000000-0000-0000-0000-000000000000'",
    ),
    "a_fixed": Column(FixedType(3), in_base64(b"\x00\x00\x00", b"\xff\xff\xff"), "X'000000'"),
    "a_binary": Column(BinaryType(), in_base64(b"", b"\x00\xff", b"\xff" * 40), "X''"),
}
TIMES = {"a_time": Column(TimeType(), spelled(time.fromisoformat, "00:00:00", "23:59:59.999999"))}


def schema_of(columns: dict[str, Column]) -> Schema:
    fields = [
        NestedField(number, name, column.kind)
        for number, (name, column) in enumerate(columns.items(), start=2)
    ]
    return Schema(NestedField(1, "id", LongType(), required=True), *fields)


@pytest.fixture
def table(request: pytest.FixtureRequest, lake: SqlCatalog) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("typed")
    name = f"typed.t_{uuid4().hex}"
    yield lake.create_table(name, request.param, properties={"format-version": "2"})
    lake.drop_table(name)


def numbered(columns: dict[str, Column]) -> Iterator[tuple[int, str, Any, Any]]:
    """Yields the row id, name, JSON and value of every value of every column."""
    number = 0
    for name, column in columns.items():
        for given, value in column.values:
            number += 1
            yield number, name, given, value


def send_each_by_itself(gateway: httpx.Client, table: Table, columns: dict[str, Column]) -> list[Row]:
    """Sends a write for each column, and one without values; returns the rows that must be found."""
    nothing: Row = dict.fromkeys(columns)
    writes = [
        {
            "table": named(table),
            "writeSchema": [name, "id"],
            "records": [
                *({"id": number, name: given} for number, own, given, _ in numbered(columns) if own == name),
                {"id": -position, name: None},
            ],
        }
        for position, name in enumerate(columns, start=1)
    ]
    writes.append({"table": named(table), "records": [{"id": 0}]})
    response = gateway.post("/ingest", json={"writes": writes})
    assert response.status_code == 200, response.text
    assert len(response.json()["commits"]) == 1
    empty = [nothing | {"id": number} for number in range(-len(columns), 1)]
    return [*empty, *(nothing | {"id": number, name: value} for number, name, _, value in numbered(columns))]


@pytest.mark.parametrize("table", [schema_of(COLUMNS)], indirect=True, ids=["every type"])
def test_every_value_of_every_type_is_read_alike_and_found_by_all(
    gateway: httpx.Client, table: Table
) -> None:
    assert_read_alike(gateway, table, send_each_by_itself(gateway, table, COLUMNS))
    assert len(data_files(table)) == len(COLUMNS) + 1
    for number, name, _, value in numbered(COLUMNS):
        if value not in UNASKED and name != "a_uuid":  # PyIceberg cannot compare UUIDs.
            matching = table.scan(
                row_filter=EqualTo(term=Reference(name), value=literal(value)), selected_fields=("id",)
            ).to_arrow()
            assert matching["id"].to_pylist() == [number], (name, value)
    for name in COLUMNS:
        own = [number for number, column, _, _ in numbered(COLUMNS) if column == name]
        assert len(list(table.scan(row_filter=NotNull(term=Reference(name))).plan_files())) == 1
        scan = table.scan(row_filter=NotNull(term=Reference(name)), selected_fields=("id",)).to_arrow()
        assert sorted(scan["id"].to_pylist()) == own
    asked = [
        f"SELECT '{name}' AS name, id FROM {named(table)} WHERE {name} = {column.sql}"
        for name, column in COLUMNS.items()
    ]
    first = {name: next(number for number, own, _, _ in numbered(COLUMNS) if own == name) for name in COLUMNS}
    assert sorted(rows(gateway, " UNION ALL ".join(asked))) == sorted(map(list, first.items()))


@pytest.mark.parametrize("table", [schema_of(TIMES)], indirect=True, ids=["time"])
def test_times_of_day_are_read_by_those_who_know_them(gateway: httpx.Client, table: Table) -> None:
    assert_read_alike_without_spark(table, send_each_by_itself(gateway, table, TIMES))
    asked = gateway.post("/query", json={"sql": f"SELECT id FROM {named(table)}", "waitTimeout": "50s"})
    assert "Spark does not support time fields" in asked.text


@pytest.mark.parametrize("table", [schema_of({})], indirect=True, ids=["no times"])
def test_no_table_gets_times_of_day_which_spark_does_not_know(gateway: httpx.Client, table: Table) -> None:
    time_of_day = {"name": "t", "type": {"type": "list", "element": "time", "element-required": False}}
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long"}, time_of_day]}
    body = {"table": named(table), "schema": schema, "evolve": True, "records": [{"id": 1}]}
    evolved = gateway.post("/ingest", json=body)
    assert (evolved.status_code, evolved.json()["code"]) == (422, "SCHEMA_MISMATCH")
    assert [(error["field"], error["rule"]) for error in evolved.json()["errors"]] == [
        ("t.element", "NOT_READABLE")
    ]
    name = f"{named(table)}_made"
    created = gateway.post("/ingest", json=body | {"table": name, "create": {}})
    assert (created.status_code, created.json()["code"]) == (422, "CREATION_INVALID")
    assert gateway.get(f"/tables/{name}").status_code == 404


PARTITIONED = [
    ("a_uuid", "bucket[8]"),
    ("a_fixed", "bucket[8]"),
    ("a_binary", "identity"),
    ("a_binary", "bucket[8]"),
    ("a_binary", "truncate[2]"),
]


@pytest.mark.parametrize(("name", "transform"), PARTITIONED, ids=str)
def test_a_table_that_is_made_can_be_written_and_read_whatever_it_is_partitioned_by(
    gateway: httpx.Client, lake: SqlCatalog, name: str, transform: str
) -> None:
    fields = [{"name": "id", "type": "long"}, {"name": name, "type": str(COLUMNS[name].kind)}]
    values = [given for given, _ in COLUMNS[name].values]
    body = {
        "table": f"lake.typed.t_{uuid4().hex}",
        "schema": {"type": "struct", "fields": fields},
        "create": {"partitionSpec": [{"source": name, "transform": transform}]},
        "records": [{"id": number, name: given} for number, given in enumerate([*values, None])],
    }
    made = gateway.post("/ingest", json=body)
    assert made.status_code == 200, made.text
    try:
        reported = [[number, given] for number, given in enumerate([*values, None])]
        assert rows(gateway, f"SELECT id, {name} FROM {body['table']} ORDER BY id") == reported
        found = rows(gateway, f"SELECT id FROM {body['table']} WHERE {name} = {COLUMNS[name].sql}")
        assert found == [[0]]
    finally:
        lake.drop_table(str(body["table"]).removeprefix("lake."))


@pytest.mark.parametrize("name", ["a_uuid", "a_fixed"])
def test_what_could_not_be_written_or_read_is_not_made(gateway: httpx.Client, name: str) -> None:
    table = f"lake.typed.t_{uuid4().hex}"
    body = {
        "table": table,
        "schema": {"type": "struct", "fields": [{"name": name, "type": str(COLUMNS[name].kind)}]},
        "create": {"partitionSpec": [{"source": name}]},
        "records": [{name: COLUMNS[name].values[0][0]}],
    }
    refused = gateway.post("/ingest", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "CREATION_INVALID")
    assert refused.json()["errors"][0]["pointer"] == "/create/partitionSpec/0/transform"
    assert gateway.get(f"/tables/{table}").status_code == 404


GEO = StructType(NestedField(31, "lat", DoubleType()), NestedField(32, "lon", DoubleType()))
POINT = StructType(
    NestedField(21, "name", StringType(), required=True),
    NestedField(22, "geo", GEO),
    NestedField(23, "seen", TimestamptzType()),
)
NESTED = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "point", POINT),
    NestedField(3, "path", ListType(41, GEO, element_required=False)),
    NestedField(4, "grid", ListType(51, ListType(52, IntegerType(), element_required=False), False)),
    NestedField(5, "prices", MapType(61, StringType(), 62, DecimalType(9, 2), value_required=False)),
    NestedField(6, "by_day", MapType(71, DateType(), 72, POINT, value_required=False)),
)
SEEN = "2026-01-31T12:00:00.000001Z"
SEEN_AT = datetime.fromisoformat(SEEN)
A_POINT: Row = {"name": "a", "geo": {"lat": -0.0, "lon": None}, "seen": SEEN}
ANSWERED_POINT = A_POINT | {"seen": SEEN_AT}
PARTLY = ["id", "point.geo.lon", "point.name"]
DAY = date(2026, 1, 31)
NESTED_WRITES: list[tuple[list[str] | None, Row, Row]] = [
    (
        ["point.seen", "id", "point.name"],
        {"point": {"name": "a", "seen": SEEN}},
        {"point": ANSWERED_POINT | {"geo": None}},
    ),
    (
        PARTLY,
        {"point": {"name": "", "geo": {"lon": 1.5}}},
        {"point": {"name": "", "geo": {"lat": None, "lon": 1.5}, "seen": None}},
    ),
    (PARTLY, {"point": None}, {}),
    (PARTLY, {"point": {"name": "b", "geo": None}}, {"point": {"name": "b", "geo": None, "seen": None}}),
    (
        ["path", "id"],
        {"path": [{"lat": 1.0, "lon": 2.0}, None, {"lat": None}]},
        {"path": [{"lat": 1.0, "lon": 2.0}, None, {"lat": None, "lon": None}]},
    ),
    (["path", "id"], {"path": []}, {"path": []}),
    (["grid", "id"], {"grid": [[], None, [2**31 - 1, None]]}, {"grid": [[], None, [2**31 - 1, None]]}),
    (
        ["prices", "id"],
        {"prices": {"": "-0.01", "b": None}},
        {"prices": [("", Decimal("-0.01")), ("b", None)]},
    ),
    (["prices", "id"], {"prices": {}}, {"prices": []}),
    (
        ["by_day", "id"],
        {"by_day": [{"key": "2026-01-31", "value": A_POINT}, {"key": "0001-01-01", "value": None}]},
        {"by_day": [(DAY, ANSWERED_POINT), (date.min, None)]},
    ),
    (
        None,
        {"point": A_POINT, "path": [], "grid": [], "by_day": []},
        {"point": ANSWERED_POINT, "path": [], "grid": [], "by_day": []},
    ),
]


@pytest.mark.parametrize("table", [NESTED], indirect=True, ids=["nested"])
def test_what_is_nested_is_read_alike_whole_and_in_part(gateway: httpx.Client, table: Table) -> None:
    nothing: Row = dict.fromkeys(field.name for field in NESTED.fields)
    writes = [
        {"table": named(table), "writeSchema": columns, "records": [record | {"id": number}]}
        for number, (columns, record, _) in enumerate(NESTED_WRITES)
    ]
    response = gateway.post("/ingest", json={"writes": writes})
    assert response.status_code == 200, response.text
    reported = [nothing | row | {"id": number} for number, (_, _, row) in enumerate(NESTED_WRITES)]
    assert_read_alike(gateway, table, reported)
    # Each distinct write schema has one file, however many writes use it.
    assert len(data_files(table)) == len({tuple(columns or ()) for columns, _, _ in NESTED_WRITES})


@pytest.mark.parametrize("table", [NESTED], indirect=True, ids=["nested"])
def test_no_list_and_an_empty_one_are_distinguished(gateway: httpx.Client, table: Table) -> None:
    # PyIceberg reads both as empty if the list has structs.
    records: list[Row] = [{"id": 1, "path": None, "by_day": None}, {"id": 2, "path": [], "by_day": []}]
    sent = {"table": named(table), "writeSchema": ["by_day", "path", "id"], "records": records}
    assert gateway.post("/ingest", json=sent).status_code == 200
    [file] = data_files(table)
    by_both = [
        by_duckdb(path_of(file)),
        by_spark(gateway, f"SELECT id, path, by_day FROM {named(table)} ORDER BY id"),
    ]
    assert by_both == [records, records]
