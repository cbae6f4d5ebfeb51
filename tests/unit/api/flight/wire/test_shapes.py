"""Tests types: their spelling, their Arrow type, and values that are bound or lose their zone."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from api.flight.metadata.table_columns import sql_name
from api.flight.statements.bound_parameters import parameters_of
from api.flight.statements.result_streams import arrow_zone, batches_of
from api.flight.wire.arrow_types import TypeNotRead, arrow_type
from api.flight.wire.without_zones import schema_without_zones, without_zones
from service.errors.statement_errors import ParameterInvalid

UTC = pa.timestamp("us", "UTC")
SPELLED = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(38,38)": pa.decimal128(38, 38),
    "STRING": pa.string(),
    "STRING COLLATE UTF8_LCASE": pa.string(),
    "CHAR(3)": pa.string(),
    "VARCHAR(3)": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": UTC,
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "TIME(6)": pa.time64("ns"),
    "INTERVAL DAY TO SECOND": pa.duration("us"),
    "INTERVAL DAY": pa.duration("us"),
    "INTERVAL YEAR TO MONTH": pa.string(),
    "INTERVAL": pa.string(),
    "VARIANT": pa.string(),
    "VOID": pa.null(),
    "ARRAY<VARIANT>": pa.string(),
    "MAP<STRING, ARRAY<INT>>": pa.map_(pa.string(), pa.list_(pa.field("element", pa.int32()))),
    "STRUCT<>": pa.struct([]),
    "STRUCT<x: INT, x: DECIMAL(7,2)>": pa.struct(
        [pa.field("x", pa.int32()), pa.field("x", pa.decimal128(7, 2))]
    ),
    "long": pa.int64(),
    "decimal(7, 2)": pa.decimal128(7, 2),
    "fixed[16]": pa.binary(),
    "timestamptz": UTC,
    "timestamp": pa.timestamp("us"),
    "list<long>": pa.list_(pa.field("element", pa.int64())),
}


@pytest.mark.parametrize("spelled", list(SPELLED))
def test_a_type_is_read(spelled: str) -> None:
    assert arrow_type(spelled).equals(SPELLED[spelled])


def test_a_type_of_too_many_levels_is_text() -> None:
    assert arrow_type("ARRAY<" * 61 + "INT" + ">" * 61) == pa.string()


@pytest.mark.parametrize(
    "spelled",
    [
        "STRUCT<a: b: INT>",
        "STRUCT<a,b: INT>",
        "MAP<INT>",
        "ARRAY<INT, INT>",
        "GEOMETRY",
        "STRUCT<a<b: INT>",
        "MAP<VOID, INT>",
    ],
)
def test_a_type_that_could_be_another_is_not_read(spelled: str) -> None:
    with pytest.raises(TypeNotRead):
        arrow_type(spelled)


@pytest.mark.parametrize("spelled", [name for name in SPELLED if name.isupper() and "INTERVAL" not in name])
def test_names_in_sql_are_read_back(spelled: str) -> None:
    if "TIME(" not in spelled:
        assert arrow_type(sql_name(arrow_type(spelled))) == arrow_type(spelled)


BOUND = [
    (pa.array([True]), True, "BOOLEAN"),
    (pa.array([7], pa.uint64()), 7, "DECIMAL(20,0)"),
    (pa.array([1.5], pa.float32()), 1.5, "FLOAT"),
    (pa.array([Decimal("1E+2")], pa.decimal128(5, 0)), "100", "DECIMAL(5,0)"),
    (pa.array([b"\x00\xff"]), "AP8=", "BINARY"),
    (pa.array([datetime.date(2000, 1, 2)]), "2000-01-02", "DATE"),
    (pa.array([1_500], pa.timestamp("ms")), "1970-01-01T00:00:01.500000", "TIMESTAMP_NTZ"),
    (pa.array([0], pa.timestamp("s", "Europe/Rome")), "1970-01-01T00:00:00+00:00", "TIMESTAMP"),
    (pa.array(["a"]).dictionary_encode(), "a", "STRING"),
    (pa.array([None], pa.int64()), None, "BIGINT"),
    (pa.nulls(1), None, None),
]


@pytest.mark.parametrize(("column", "value", "name"), BOUND, ids=[str(column.type) for column, _, _ in BOUND])
def test_a_value_is_bound(column: pa.Array, value: Any, name: str | None) -> None:
    [parameter] = parameters_of(pa.table({"a": column}))
    assert (parameter.value, parameter.type_name) == (value, name)


UNBOUND = [
    pa.array([[1]]),
    pa.array([float("nan")]),
    pa.array([1], pa.timestamp("ns")),
    pa.array([Decimal(1)], pa.decimal256(50, 0)),
    pa.array([1], pa.time64("us")),
]


@pytest.mark.parametrize("column", UNBOUND, ids=[str(column.type) for column in UNBOUND])
def test_a_value_that_would_change_is_refused(column: pa.Array) -> None:
    with pytest.raises(ParameterInvalid):
        parameters_of(pa.table({"a": column}))


NOON = datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC)
BERLIN = datetime.datetime(2024, 7, 1, 14)
ZONED: list[tuple[pa.DataType, Any, Any]] = [
    (UTC, [NOON, None], [BERLIN, None]),
    (pa.list_(UTC), [[NOON], None, [], [None, NOON]], [[BERLIN], None, [], [None, BERLIN]]),
    (
        pa.struct([pa.field("at", UTC), pa.field("n", pa.int32())]),
        [{"at": NOON, "n": 1}, None, {"at": None, "n": 2}],
        [{"at": BERLIN, "n": 1}, None, {"at": None, "n": 2}],
    ),
    (pa.map_(pa.string(), UTC), [[("a", NOON)], None, []], [[("a", BERLIN)], None, []]),
    (pa.map_(UTC, pa.list_(UTC)), [[(NOON, [NOON, None])]], [[(BERLIN, [BERLIN, None])]]),
]


@pytest.mark.parametrize(("kind", "given", "told"), ZONED, ids=[str(kind) for kind, _, _ in ZONED])
def test_moments_are_told_in_a_zone(kind: pa.DataType, given: list[Any], told: list[Any]) -> None:
    column = pa.array(given, kind)
    found = without_zones(column, "Europe/Berlin")
    found.validate(full=True)
    assert found.to_pylist() == told
    # The rows of a chunk may be a part of a larger table.
    doubled = pa.concat_arrays([column, column]).slice(len(column) - 1, len(column))
    assert without_zones(doubled, "Europe/Berlin").to_pylist() == [told[-1], *told[:-1]]
    schema = schema_without_zones(pa.schema([pa.field("c", kind)]))
    assert found.type == schema.field(0).type


@pytest.mark.parametrize(("name", "told"), [("+02:00", 14), ("GMT-5", 7), ("utc+5:30", 17), ("Z", 12)])
def test_offsets_are_zones(name: str, told: int) -> None:
    [moment] = without_zones(pa.array([NOON], UTC), arrow_zone(name)).to_pylist()
    assert moment.hour == told


def test_inner_names_and_nulls_are_those_that_were_told() -> None:
    lies = pa.table({"a": pa.array([[1]], pa.list_(pa.field("item", pa.int32(), nullable=False)))})
    told = pa.schema([pa.field("a", pa.list_(pa.field("element", pa.int32())))])
    [batch] = batches_of(lies, told, None)
    assert batch.schema.equals(told, check_metadata=True)
    assert batch.to_pylist() == [{"a": [1]}]
