"""Tests the columns of results: Apache Thrift's own library reads the values that Arrow has."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.hive_server.rows.kept_chunks import KeptChunks
from api.hive_server.rows.result_rows import ResultRows, StoredChunks, rows_of_table
from api.hive_server.rows.type_ids import TypeId, column_descriptions, type_id
from api.hive_server.rows.written_column import written_column
from tests.unit.api.hive_server.thrift_values import read_struct

_MOMENTS = st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 30))
_NUMBERS: list[tuple[pa.DataType, int, st.SearchStrategy[Any]]] = [
    (pa.bool_(), 1, st.booleans()),
    (pa.int8(), 2, st.integers(-(2**7), 2**7 - 1)),
    (pa.int16(), 3, st.integers(-(2**15), 2**15 - 1)),
    (pa.int32(), 4, st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), 5, st.integers(-(2**63), 2**63 - 1)),
    (pa.float64(), 6, st.floats(allow_nan=False)),
]
_TEXTS: list[tuple[pa.DataType, int, st.SearchStrategy[Any]]] = [
    (pa.string(), 7, st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
    (pa.large_string(), 7, st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
    (pa.binary(), 8, st.binary(max_size=5)),
    (pa.large_binary(), 8, st.binary(max_size=5)),
]


def decoded(column: pa.Array | pa.ChunkedArray, member: int) -> list[Any]:
    """Returns the values of a written column; NULL is None."""
    (found,) = read_struct(written_column(column)).items()
    assert found[0] == member
    values, nulls = found[1][1], found[1][2]
    is_null = [bool(nulls[place // 8] >> place % 8 & 1) for place in range(len(values))]
    return [None if null else value for null, value in zip(is_null, values, strict=True)]


def texts(column: pa.Array) -> list[str | None]:
    return [None if value is None else value.decode() for value in decoded(column, 7)]


@st.composite
def cut_arrays(draw: st.DrawFn, kind: pa.DataType, values: st.SearchStrategy[Any]) -> pa.Array:
    """Draws arrays of a type, with NULLs, of which only a part is taken."""
    drawn = pa.array(draw(st.lists(st.none() | values, max_size=20)), kind)
    start = draw(st.integers(0, len(drawn)))
    return drawn.slice(start, draw(st.integers(0, len(drawn))))


@pytest.mark.parametrize(("kind", "member", "values"), _NUMBERS + _TEXTS, ids=lambda given: str(given)[:12])
def test_values_are_sent_as_they_are(kind: pa.DataType, member: int, values: st.SearchStrategy[Any]) -> None:
    @given(array=cut_arrays(kind, values))
    def check(array: pa.Array) -> None:
        expected = [value.encode() if isinstance(value, str) else value for value in array.to_pylist()]
        assert decoded(array, member) == expected

    check()


@given(array=cut_arrays(pa.decimal128(38, 10), st.decimals(-(10**9), 10**9, places=10)))
def test_decimals_are_plain_digits(array: pa.Array) -> None:
    expected = [None if value is None else format(value, "f") for value in array.to_pylist()]
    assert texts(array) == expected


@given(array=cut_arrays(pa.date32(), st.dates()))
def test_dates_are_iso(array: pa.Array) -> None:
    assert texts(array) == [None if value is None else value.isoformat() for value in array.to_pylist()]


@given(array=cut_arrays(pa.timestamp("us"), _MOMENTS))
def test_timestamps_have_a_fraction_without_zeros_at_its_end(array: pa.Array) -> None:
    def spelled(moment: dt.datetime) -> str:
        whole, _, fraction = moment.isoformat(" ", "microseconds").partition(".")
        digits = fraction.rstrip("0")
        return f"{whole}.{digits}" if digits else whole

    assert texts(array) == [None if value is None else spelled(value) for value in array.to_pylist()]


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-01-01 00:30:00.25"),
        ("Europe/Berlin", "2026-01-01 01:30:00.25"),
        ("-08:00", "2025-12-31 16:30:00.25"),
        (None, "2026-01-01 00:30:00.25"),
    ],
)
def test_timestamps_have_the_zone_of_the_session(zone: str | None, text: str) -> None:
    moment = dt.datetime(2026, 1, 1, 0, 30, 0, 250_000, tzinfo=dt.UTC if zone else None)
    assert texts(pa.array([moment, None], pa.timestamp("us", zone))) == [text, None]


def test_years_that_arrow_cannot_write_are_written() -> None:
    moments = pa.array([10**18], pa.int64()).cast(pa.timestamp("us"))
    assert texts(moments)[0] == "+33658-09-27 01:46:40"
    assert texts(pa.array([11_248_738], pa.int32()).cast(pa.date32())) == ["+32768-01-01"]


def test_a_float_has_its_own_digits() -> None:
    assert decoded(pa.array([0.1, None, float("inf")], pa.float32()), 6) == [0.1, None, float("inf")]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([[1, None], None], pa.list_(pa.int32())), [[1, None], None]),
        (pa.array([{"a": 1, "b": "x"}]), [{"a": 1, "b": "x"}]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())), [{"k": 1}]),
    ],
    ids=["list", "struct", "map"],
)
def test_nested_values_are_json(array: pa.Array, expected: list[Any]) -> None:
    found = [None if text is None else json.loads(text) for text in texts(array)]
    assert found == expected


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.nulls(3), [None, None, None]),
        (pa.array([dt.timedelta(seconds=1.5)], pa.duration("us")), ["PT1.5S"]),
        (pa.array([dt.time(1, 2, 3)], pa.time64("us")), ["01:02:03"]),
        (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
    ],
    ids=["null", "interval", "time", "dictionary"],
)
def test_other_values_are_text(array: pa.Array, expected: list[Any]) -> None:
    assert texts(array) == expected


def test_bytes_under_a_null_are_not_sent() -> None:
    array = pa.array(["secret", "b"])
    hidden = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x02"), *array.buffers()[1:]], null_count=1
    )
    assert decoded(hidden, 7) == [None, b"b"]
    assert b"secret" not in written_column(hidden)


def test_a_column_of_several_chunks_is_one() -> None:
    assert decoded(pa.chunked_array([[1], [], [2]], pa.int64()), 5) == [1, 2]
    assert decoded(pa.chunked_array([], pa.int64()), 5) == []


def test_metadata_has_the_digits_of_decimals() -> None:
    (column,) = column_descriptions(pa.schema([("price", pa.decimal128(7, 2))]))
    entry = column["typeDesc"]["types"][0]["primitiveEntry"]
    assert (column["position"], entry["type"]) == (1, TypeId.DECIMAL)
    assert entry["typeQualifiers"]["qualifiers"]["scale"] == {"i32Value": 2}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.timestamp("us", "UTC"), TypeId.TIMESTAMP),
        (pa.large_string(), TypeId.STRING),
        (pa.duration("us"), TypeId.STRING),
        (pa.list_(pa.int8()), TypeId.ARRAY),
        (pa.null(), TypeId.NULL),
    ],
    ids=str,
)
def test_each_type_has_a_number(kind: pa.DataType, expected: TypeId) -> None:
    assert type_id(kind) is expected


def test_a_page_joins_chunks_up_to_its_rows() -> None:
    whole = pa.table({"n": list(range(30))})
    chunks = StoredChunks(lambda index: whole.slice(index * 10, 10), lambda: None, KeptChunks(0).place())
    rows = ResultRows(whole.schema, [10, 10, 10], chunks)
    assert [rows.page(25, 1 << 20).rows.num_rows for _ in range(3)] == [25, 5, 0]
    assert rows_of_table(whole).page(100, 1 << 20).rows.num_rows == 30


def test_decimals_without_exponents_are_not_looked_at_twice() -> None:
    cents = pa.array([decimal.Decimal("0.01"), decimal.Decimal("-7.00")], pa.decimal128(7, 2))
    assert texts(cents) == ["0.01", "-7.00"]
    assert pc.sum(cents).as_py() == decimal.Decimal("-6.99")
