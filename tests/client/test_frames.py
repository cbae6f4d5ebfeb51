"""Tests round trips of every type: a result as a data frame, and the frame as records of an ingest."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from sluice_client import Connection, DataNotSupported
from tests.client.gateways import Served

TABLE = "lake.logs.events"
MOMENT = datetime(2026, 1, 1, 12, 30, 15, 123456)
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "boolean": (pa.bool_(), [True, False, None]),
    "tinyint": (pa.int8(), [-128, 127, None]),
    "smallint": (pa.int16(), [-(2**15), 2**15 - 1, None]),
    "int": (pa.int32(), [-(2**31), 2**31 - 1, None]),
    "bigint": (pa.int64(), [-(2**63), 2**63 - 1, None]),
    "float": (pa.float32(), [0.5, -0.0, None]),
    "double": (pa.float64(), [0.1, float("inf"), None]),
    "decimal": (
        pa.decimal128(38, 18),
        [Decimal("12345678901234567890.123456789012345678"), Decimal(0), None],
    ),
    "string": (pa.string(), ["é\n", "", None]),
    "binary": (pa.binary(), [b"\x00\xff", b"", None]),
    "date": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None]),
    "time": (pa.time64("us"), [time(23, 59, 59, 999999), time(0), None]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [MOMENT.replace(tzinfo=UTC), datetime(1600, 1, 1, tzinfo=UTC), None],
    ),
    "timestamp_ntz": (pa.timestamp("us"), [MOMENT, datetime(1600, 1, 1), None]),
    "interval": (pa.duration("us"), [timedelta(days=3, microseconds=1), timedelta(0), None]),
    "array": (pa.list_(pa.int32()), [[1, None], [], None]),
    "struct": (
        pa.struct([("city", pa.string()), ("n", pa.int64())]),
        [{"city": "Bonn", "n": None}, None, None],
    ),
    "map": (pa.map_(pa.string(), pa.int32()), [[("a", 1)], [], None]),
    "nested": (pa.list_(pa.struct([("tags", pa.list_(pa.string()))])), [[{"tags": ["a", None]}], [], None]),
    "void": (pa.null(), [None, None, None]),
}
NOT_IN_POLARS = {"map": "polars has no maps: they become lists of structs"}


@pytest.fixture(params=COLUMNS)
def column(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def sent(gateway: Served, column: str) -> pa.Table:
    kind, values = COLUMNS[column]
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "value": pa.array(values, kind)})
    gateway.queries.answers["SELECT * FROM t"] = rows
    return rows


def test_rows_have_the_values_of_python(connection: Connection, sent: pa.Table, column: str) -> None:
    assert connection.query("SELECT * FROM t").rows() == list(zip([1, 2, 3], COLUMNS[column][1], strict=True))
    assert connection.query("SELECT * FROM t").arrow() == sent


def test_pandas_keeps_every_type(connection: Connection, sent: pa.Table) -> None:
    pandas = pytest.importorskip("pandas")
    frame = connection.query("SELECT * FROM t").pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None) == sent


def test_polars_keeps_every_type(connection: Connection, sent: pa.Table, column: str) -> None:
    polars = pytest.importorskip("polars")
    frame = connection.query("SELECT * FROM t").polars()
    assert isinstance(frame, polars.DataFrame)
    back = frame.to_arrow()
    if column not in NOT_IN_POLARS:
        back = back.cast(sent.schema)
        assert back == sent
    else:
        assert back.num_rows == sent.num_rows


def test_pandas_with_the_types_of_numpy(gateway: Served, connection: Connection) -> None:
    pytest.importorskip("pandas")
    gateway.queries.answers["SELECT n"] = pa.table({"n": pa.array([1, None], pa.int32())})
    assert str(connection.query("SELECT n").pandas(types="numpy").dtypes["n"]) == "float64"
    assert str(connection.query("SELECT n").pandas().dtypes["n"]) == "int32[pyarrow]"


RECORDS: dict[str, list[Any]] = {
    "event_time": [datetime(2026, 1, 1, 12, tzinfo=UTC), None],
    "log_type": ["http", None],
    "user_id": [2**53 + 1, None],
    "price": [Decimal("1.50"), None],
    "payload": [b"\x00\xff", None],
    "day": [date(2026, 1, 1), None],
    "share": [0.1, None],
    "tags": [["a", None], None],
    "place": [{"city": "Bonn"}, None],
    "is_new": [True, None],
}
TYPES = {
    "event_time": pa.timestamp("us", "UTC"),
    "price": pa.decimal128(9, 2),
    "place": pa.struct([("city", pa.string())]),
}


def records() -> pa.Table:
    return pa.table({name: pa.array(values, TYPES.get(name)) for name, values in RECORDS.items()})


def written() -> list[dict[str, Any]]:
    return [{name: values[0] for name, values in RECORDS.items()}, {}]


def test_a_table_of_every_type_is_written(gateway: Served, connection: Connection) -> None:
    connection.ingest(TABLE, records())
    assert gateway.written() == written()


@pytest.mark.parametrize("types", ["arrow", "numpy"])
def test_a_frame_of_pandas_is_written(gateway: Served, connection: Connection, types: str) -> None:
    pandas = pytest.importorskip("pandas")
    # In numpy's types, a column of integers with a null is one of floats.
    rows = records() if types == "arrow" else records().slice(0, 1)
    frame = rows.to_pandas(types_mapper=pandas.ArrowDtype if types == "arrow" else None)
    connection.ingest(TABLE, frame)
    assert gateway.written() == written()[: len(rows)]


def test_a_frame_of_polars_is_written(gateway: Served, connection: Connection) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(records())
    connection.ingest(TABLE, frame)
    assert gateway.written() == written()
    with pytest.raises(DataNotSupported, match="collect"):
        connection.ingest(TABLE, frame.lazy())


def test_without_the_libraries_the_error_says_what_to_install(connection: Connection) -> None:
    result = connection.query("SELECT 1")
    for name, read in (("pandas", result.pandas), ("polars", result.polars)):
        try:
            __import__(name)
        except ImportError:
            with pytest.raises(ImportError, match=f"sluice-client\\[{name}\\]"):
                read()


def test_values_that_python_cannot_hold_are_an_error_that_names_the_column(
    gateway: Served, connection: Connection
) -> None:
    far = pa.array([2**40], pa.int64()).cast(pa.int64()).view(pa.timestamp("s"))
    gateway.queries.answers["SELECT at"] = pa.table({"at": far})
    result = connection.query("SELECT at")
    assert result.arrow().num_rows == 1
    with pytest.raises(ValueError, match=r"'at'.*arrow\(\)"):
        result.rows()


TWICE = pa.StructArray.from_arrays([pa.array([1, 3]), pa.array([2, None])], names=["a", "a"])
PAIRS = [[("a", 1), ("a", 2)], [("a", 3), ("a", None)]]
BROKEN = pa.array([b"a\xff", b"b"], pa.binary()).view(pa.string())


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (TWICE, PAIRS),
        (pa.ListArray.from_arrays([0, 2, 2], TWICE), [PAIRS, []]),
        (pa.FixedSizeListArray.from_arrays(TWICE, 1), [[PAIRS[0]], [PAIRS[1]]]),
        (pa.MapArray.from_arrays([0, 1, 2], ["k", "l"], TWICE), [[("k", PAIRS[0])], [("l", PAIRS[1])]]),
        (pa.StructArray.from_arrays([TWICE], names=["s"]), [{"s": PAIRS[0]}, {"s": PAIRS[1]}]),
        (pa.StructArray.from_arrays([TWICE], ["s"], mask=pa.array([True, False])), [None, {"s": PAIRS[1]}]),
        (BROKEN, ["a\ufffd", "b"]),
        (pa.ListArray.from_arrays([0, 1, 2], BROKEN), [["a\ufffd"], ["b"]]),
        (pa.StructArray.from_arrays([BROKEN], names=["s"]), [{"s": "a\ufffd"}, {"s": "b"}]),
        (BROKEN.dictionary_encode(), ["a\ufffd", "b"]),
    ],
    ids=[
        *("fields of one name", "in a list", "in a list of one length", "in a map", "in a struct"),
        *("in a struct with nulls", "no UTF-8", "no UTF-8 in a list", "no UTF-8 in a struct"),
        *("no UTF-8 in a dictionary",),
    ],
)
def test_no_value_of_a_column_is_lost(
    gateway: Served, connection: Connection, array: pa.Array, expected: list[Any]
) -> None:
    gateway.queries.answers["SELECT v"] = pa.Table.from_arrays([array, array], names=["v", "v"])
    result = connection.query("SELECT v")
    assert result.rows() == [(value, value) for value in expected]
