"""Arrow and Parquet: every value is taken unchanged, or rejected."""

from __future__ import annotations

import io
import json
import struct
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow
from service.ingest.decoding.values.exact_arrays import exact_array
from service.ingest.decoding.values.row_payload import row_payload
from service.ingest.decoding.values.sent_types import MIDNIGHTS
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.schemas import Field, ListOf, MapOf, Primitive, Struct

NOON = datetime(2026, 1, 1, 12)
DAY_US = 86_400_000_000


def stream(table: pa.Table, rows_at_once: int | None = None) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, rows_at_once)
    return sink.getvalue()


def read(
    body: bytes, plan: ReadPlan, record_format: RecordFormat = RecordFormat.ARROW_STREAM
) -> tuple[list[Any], list[BadRow]]:
    found = list(read_rows(io.BytesIO(body), record_format, plan))
    rows = [row for routed in found if not isinstance(routed, BadRow) for row in routed.rows.to_pylist()]
    return rows, [bad_row for bad_row in found if isinstance(bad_row, BadRow)]


def plan_of(*fields: Field) -> ReadPlan:
    return ReadPlan((ReadTarget(fields),))


def written(array: pa.Array, kind: Any, required: bool = False) -> tuple[list[Any], list[tuple[int, str]]]:
    """Returns the written values of a column, and the rows and reasons of those that do not fit."""
    field = Field(1, "v", Primitive(kind) if isinstance(kind, str) else kind, required)
    rows, bad = read(stream(pa.table({"v": array})), plan_of(field))
    return [row["v"] for row in rows], [(bad_row.position.number, bad_row.reason) for bad_row in bad]


@pytest.mark.parametrize(
    ("array", "kind", "expected"),
    [
        (pa.array([True, None]), "boolean", [True, None]),
        (pa.array([1, 255], pa.uint8()), "int", [1, 255]),
        (pa.array([1, 2**31 - 1], pa.uint64()), "int", [1, 2**31 - 1]),
        (pa.array([1], pa.int32()), "long", [1]),
        (pa.array([0.5], pa.float32()), "double", [0.5]),
        (pa.array([2**53], pa.int64()), "double", [2.0**53]),
        (pa.array([0.5], pa.float32()), "float", [0.5]),
        (pa.array([Decimal("1.5")]), "decimal(9, 2)", [Decimal("1.50")]),
        (pa.array([Decimal("1.500")]), "decimal(9, 2)", [Decimal("1.50")]),
        (pa.array(["a", None], pa.large_string()), "string", ["a", None]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "string", ["a", "b", "a"]),
        (pa.array(["a"], pa.string_view()), "string", ["a"]),
        (pa.array([date(2026, 1, 1)], pa.date64()), "date", [date(2026, 1, 1)]),
        (pa.array([time(1, 2)], pa.time32("s")), "time", [time(1, 2)]),
        (pa.array([NOON], pa.timestamp("ms")), "timestamp", [NOON]),
        (pa.array([NOON], pa.timestamp("ns")), "timestamp", [NOON]),
        (pa.array([NOON], pa.timestamp("s", "Europe/Berlin")), "timestamptz", [NOON.replace(tzinfo=UTC)]),
        (pa.array([b"x"], pa.large_binary()), "binary", [b"x"]),
        (pa.array([b"xy"], pa.binary(2)), "fixed[2]", [b"xy"]),
        (pa.array([b"xy", None]), "fixed[2]", [b"xy", None]),
        (pa.array([b"xy"], pa.large_binary()), "fixed[2]", [b"xy"]),
        (pa.array([b"x" * 16], pa.binary(16)), "uuid", [b"x" * 16]),
        (pa.array([b"x" * 16], pa.large_binary()), "uuid", [b"x" * 16]),
        (pa.array([str(UUID(int=5)), None]), "uuid", [UUID(int=5).bytes, None]),
        (pa.array([UUID(int=5).hex], pa.large_string()), "uuid", [UUID(int=5).bytes]),
        (pa.array([date(2026, 1, 1), date(1, 1, 1)]), MIDNIGHTS, [datetime(2026, 1, 1), datetime(1, 1, 1)]),
        (pa.array([date(2026, 1, 1)], pa.date64()), MIDNIGHTS, [datetime(2026, 1, 1)]),
        (pa.nulls(2), "long", [None, None]),
    ],
)
def test_values_of_types_that_lose_nothing_are_taken(array: pa.Array, kind: str, expected: list[Any]) -> None:
    assert written(array, kind) == (expected, [])


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (pa.array([1, 2**31], pa.int64()), "int"),
        (pa.array([1, 2**63], pa.uint64()), "long"),
        (pa.array([1, 2**53 + 1], pa.int64()), "double"),
        (pa.array([1, 2**24 + 1], pa.int64()), "float"),
        (pa.array([Decimal("1.00"), Decimal("1.23")]), "decimal(9, 1)"),
        (pa.array([Decimal("1.00"), Decimal("12345.00")]), "decimal(5, 2)"),
        (pa.array([Decimal(1), Decimal(2**127 // 10**9)], pa.decimal128(38, 0)), "decimal(38, 10)"),
        (pa.array([Decimal(1), Decimal("-170141183477483350079435638724")]), "decimal(38, 10)"),
        (pa.array([Decimal(1), Decimal(10**75)], pa.decimal256(76, 0)), "decimal(38, 10)"),
        (pa.array([Decimal(1), Decimal(10**17)], pa.decimal64(18, 0)), "decimal(38, 30)"),
        (pa.array([0, 1], pa.time64("ns")), "time"),
        (pa.array([DAY_US - 1, DAY_US]).view(pa.time64("us")), "time"),
        (pa.array([0, -1]).view(pa.time64("us")), "time"),
        (pa.array([0, -1000]).view(pa.time64("ns")), "time"),
        (pa.array([0, DAY_US * 1000]).view(pa.time64("ns")), "time"),
        (pa.array([0, -1], pa.int32()).view(pa.time32("ms")), "time"),
        (pa.array([0, 86_400], pa.int32()).view(pa.time32("s")), "time"),
        (pa.array([0, 1], pa.timestamp("ns")), "timestamp"),
        (pa.array([0, 2**40], pa.timestamp("s")), "timestamp"),
        (pa.array([0, 2**62], pa.timestamp("us", "UTC")), "timestamptz"),
        (pa.array([0, 3_000_000], pa.date32()), "date"),
        (pa.array([0, -800_000], pa.date32()), "date"),
        (pa.array([0, 2**31 - 1], pa.date32()), MIDNIGHTS),
        (pa.array([b"xy", b"xyz"]), "fixed[2]"),
        (pa.array([b"x" * 16, b"x"]), "uuid"),
        (pa.array([str(UUID(int=5)), "{" + str(UUID(int=5)) + "}"]), "uuid"),
    ],
)
def test_a_value_that_would_change_is_bad_and_the_others_are_taken(array: pa.Array, kind: str) -> None:
    values, [(row, reason)] = written(array, kind)
    assert (len(values), row) == (1, 2)
    assert reason.startswith("v: ")


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (pa.array(["1"]), "long"),
        (pa.array([1.0]), "long"),
        (pa.array([True]), "int"),
        (pa.array([1]), "boolean"),
        (pa.array([0.1]), "float"),
        (pa.array([0.1]), "decimal(9, 2)"),
        (pa.array([Decimal("1e-39")], pa.decimal128(2, 39)), "decimal(38, 0)"),
        (pa.array([Decimal("1e-77")], pa.decimal256(2, 77)), "decimal(38, 0)"),
        (pa.array([1]), "string"),
        (pa.array([b"x"]), "string"),
        (pa.array(["2026-01-01"]), "date"),
        (pa.array([NOON], pa.timestamp("us")), "timestamptz"),
        (pa.array([NOON], pa.timestamp("us", "UTC")), "timestamp"),
        (pa.array([date(2026, 1, 1)]), "timestamp"),
        (pa.array([NOON], pa.timestamp("us")), MIDNIGHTS),
        (pa.array([b"x"], pa.binary(1)), "uuid"),
        (pa.array([1]), "uuid"),
        (pa.array(["xy"]), "fixed[2]"),
        (pa.array([b"xyz"], pa.binary(3)), "fixed[2]"),
        (pa.array([[1]]), "long"),
        (pa.array([{"a": 1}]), ListOf(Field(2, "element", Primitive("long")))),
        (pa.array([{"a": 1}]), Struct((Field(2, "b", Primitive("long")),))),
    ],
)
def test_a_type_whose_values_could_not_fit_is_refused_as_a_whole(array: pa.Array, kind: Any) -> None:
    with pytest.raises(IngestInvalid, match="Column v"):
        written(array, kind)


PLACE = Struct((Field(2, "city", Primitive("string"), is_required=True), Field(3, "zip", Primitive("long"))))
TAGS = ListOf(Field(4, "element", Primitive("int"), is_required=True))
COUNTS = MapOf(Field(5, "key", Primitive("string"), True), Field(6, "value", Primitive("long")))


def test_structs_lists_and_maps_are_taken_by_the_names_and_types_inside_of_them() -> None:
    places = pa.array([{"zip": 1, "city": "Ulm"}, None, {"zip": None, "city": "Bonn"}])
    assert written(places, PLACE)[0] == [{"city": "Ulm", "zip": 1}, None, {"city": "Bonn", "zip": None}]
    lists = pa.array([[1, 2], None, [], [3]], pa.large_list(pa.int64()))
    assert written(lists, TAGS) == ([[1, 2], None, [], [3]], [])
    assert written(pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), TAGS)[0] == [[1, 2], None]
    maps = pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int8()))
    assert written(maps, COUNTS) == ([[("a", 1)], None, [], [("b", None)]], [])


@pytest.mark.parametrize(
    ("key", "given"),
    [
        (Primitive("string"), pa.array(["a", "a", "b", "a", None], pa.string())),
        (
            Primitive("decimal(9, 2)"),
            pa.array([Decimal("1.5"), Decimal("1.50"), Decimal(2), Decimal("1.5"), None]),
        ),
        (Primitive("float"), pa.array([0.5, 0.5, 1.5, 0.5, None], pa.float32())),
        (Primitive("binary"), pa.array([b"a", b"a", b"b", b"a", None])),
        (
            Struct((Field(7, "x", Primitive("long")),)),
            pa.array([{"x": 1}, {"x": 1}, {"x": 2}, {"x": 1}, {"x": None}]),
        ),
    ],
)
def test_a_map_has_each_of_its_keys_once(key: Any, given: pa.Array) -> None:
    kind = MapOf(Field(5, "key", key, True), Field(6, "value", Primitive("long")))
    # The first row has a key twice; others have other keys, or the key of another row.
    maps = pa.MapArray.from_arrays([0, 2, 4, 4], given[:4], pa.array([1, 2, 3, 4]))
    values, bad = written(maps, kind)
    assert (len(values), bad) == (2, [(1, "v: a key stands there twice")])


def test_a_required_field_has_no_null_even_where_its_struct_is_none() -> None:
    for places in ([None, {"city": "Ulm"}], [None, None]):
        array = pa.array(places, pa.struct([("city", pa.string())]))
        found = exact_array(array, Field(1, "v", PLACE))
        # The writer declares in the file's schema that the field has no NULL.
        assert found.field("city").null_count == 0


def test_a_time_outside_of_a_day_is_reported_wherever_it_lies_and_the_record_is_preserved() -> None:
    times = pa.array([0, DAY_US, -1]).view(pa.time64("us"))
    field = Field(1, "v", Struct((Field(2, "all", ListOf(Field(3, "element", Primitive("time")))),)))
    column = pa.StructArray.from_arrays([pa.ListArray.from_arrays([0, 1, 2, 3], times)], names=["all"])
    rows, bad = read(stream(pa.table({"v": column})), plan_of(field))
    assert rows == [{"v": {"all": [time(0)]}}]
    assert {bad_row.reason for bad_row in bad} == {"v.all.element: a time lies outside of a day"}
    assert [json.loads(bad_row.payload)["v"]["all"] for bad_row in bad] == [["86400000000 us"], ["-1 us"]]


def test_what_is_wrong_inside_is_reported_for_its_row_alone() -> None:
    values, bad = written(pa.array([{"city": "Ulm"}, {"city": None}, None]), PLACE)
    assert (len(values), bad) == (2, [(2, "v.city is required")])
    assert written(pa.array([None, None], pa.struct([("city", pa.string())])), PLACE)[0] == [None, None]
    values, bad = written(pa.array([[1], [2**40], [None], [4]]), TAGS)
    assert (values, [row for row, _ in bad]) == ([[1], [4]], [2, 3])


def test_many_rows_in_parts_keep_their_order_and_their_numbers() -> None:
    ids = [None if number % 997 == 0 else number for number in range(1, 25_001)]
    body = stream(pa.table({"id": ids}), 12_345)
    rows, bad = read(body, plan_of(Field(1, "id", Primitive("long"), True)))
    assert [row["id"] for row in rows] == [id_ for id_ in ids if id_ is not None]
    assert [bad_row.position.number for bad_row in bad] == [
        number for number in range(1, 25_001) if number % 997 == 0
    ]


def test_a_bad_row_can_be_sent_again_as_json() -> None:
    table = pa.table(
        {
            "id": pa.nulls(1, pa.int64()),
            "price": [Decimal("1.50")],
            "at": pa.array([NOON], pa.timestamp("us", "UTC")),
            "raw": [b"\xff"],
            "share": [float("nan")],
            "tags": [["a", None]],
            "counts": pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int64())),
        }
    )
    fields = [
        Field(1, "id", Primitive("long"), True),
        Field(2, "price", Primitive("decimal(9, 2)")),
        Field(3, "at", Primitive("timestamptz")),
        Field(4, "raw", Primitive("binary")),
        Field(7, "share", Primitive("double")),
        Field(8, "tags", ListOf(Field(9, "element", Primitive("string")))),
        Field(10, "counts", COUNTS),
    ]
    _, [bad] = read(stream(table), plan_of(*fields))
    corrected = json.dumps(json.loads(bad.payload) | {"id": 7}).encode()
    [row], none = read(corrected, plan_of(*fields), RecordFormat.NDJSON)
    assert none == []
    [expected] = table.to_pylist()
    assert row.pop("share") != expected.pop("share")
    assert row == expected | {"id": 7}


def test_a_value_that_python_does_not_have_is_text_and_those_beside_it_are_themselves() -> None:
    at = pa.array([1001, 2001], pa.timestamp("ns"))
    session = pa.StructArray.from_arrays([pa.array(["ann", "bob"]), at], names=["user", "t"])
    table = pa.table(
        {
            "id": pa.nulls(2, pa.int64()),
            "session": session,
            "all": pa.ListArray.from_arrays([0, 1, 2], session),
            "by_name": pa.MapArray.from_arrays([0, 1, 2], pa.array(["x", "y"]), session),
            "folded": pa.array(["f", "f"]).dictionary_encode(),
        }
    )
    reported = {"user": "ann", "t": "1970-01-01 00:00:00.000001001"}
    [batch] = table.to_batches()
    assert json.loads(row_payload(batch.slice(0, 1))) == {
        "session": reported,
        "all": [reported],
        "by_name": [{"key": "x", "value": reported}],
        "folded": "f",
    }


def int96(*moments: tuple[int, int]) -> bytes:
    """Returns a file whose column `at` has days since 1970 and nanoseconds, as other programs write it.

    PyArrow writes only values in the range of nanoseconds, so the values are replaced in the written bytes.
    """
    placed = [datetime(2026, 1, 1, 0, 0, number) for number in range(len(moments))]
    sink = io.BytesIO()
    options = {"use_deprecated_int96_timestamps": True, "compression": "none", "use_dictionary": False}
    table = pa.table({"id": list(range(len(moments))), "at": pa.array(placed, pa.timestamp("us"))})
    pq.write_table(table, sink, write_statistics=False, store_schema=False, **options)
    body = sink.getvalue()
    for at, (days, nanoseconds) in zip(placed, moments, strict=True):
        old = struct.pack("<qI", at.second * 10**9, (at - datetime(1970, 1, 1)).days + 2_440_588)
        assert body.count(old) == 1
        body = body.replace(old, struct.pack("<qI", nanoseconds, (days + 2_440_588) % 2**32))
    return body


IDS_AND_MOMENTS = plan_of(Field(1, "id", Primitive("long")), Field(2, "at", Primitive("timestamp")))


@pytest.mark.parametrize(
    "at",
    [
        datetime(1, 1, 1),
        datetime(1582, 10, 4, 1),
        datetime(1969, 12, 31, 23, 59, 59, 999_999),
        datetime(2500, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
        NOON,
    ],
)
def test_moments_of_int96_are_read_as_they_are(at: datetime) -> None:
    since = at - datetime(1970, 1, 1)
    moment = (since.days, (since.seconds * 10**6 + since.microseconds) * 1000)
    body = int96(moment, (0, 0))
    rows, bad = read(body, IDS_AND_MOMENTS, RecordFormat.PARQUET)
    assert (rows, bad) == ([{"id": 0, "at": at}, {"id": 1, "at": datetime(1970, 1, 1)}], [])


IDS_AND_UTC = plan_of(Field(1, "id", Primitive("long")), Field(2, "at", Primitive("timestamptz")))


@pytest.mark.parametrize("at", [datetime(1582, 10, 4, 1), datetime(2500, 1, 1), NOON.replace(tzinfo=None)])
def test_moments_of_int96_are_utc_where_the_column_has_a_zone(at: datetime) -> None:
    since = at - datetime(1970, 1, 1)
    moment = (since.days, (since.seconds * 10**6 + since.microseconds) * 1000)
    rows, bad = read(int96(moment, (0, 0)), IDS_AND_UTC, RecordFormat.PARQUET)
    first, second = at.replace(tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)
    assert (rows, bad) == ([{"id": 0, "at": first}, {"id": 1, "at": second}], [])


def test_a_bad_moment_of_int96_is_a_dead_letter_that_can_be_corrected_and_sent_again() -> None:
    rows, [bad] = read(int96((0, 0), (-800_000, 0)), IDS_AND_UTC, RecordFormat.PARQUET)
    assert [row["id"] for row in rows] == [0]
    assert json.loads(bad.payload) == {"id": 1, "at": "-0221-09-04T00:00:00+00:00"}


def test_moments_without_a_zone_are_no_moments_with_one() -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [0], "at": pa.array([0], pa.timestamp("us"))}), sink)
    with pytest.raises(IngestInvalid, match="not accepted as timestamptz"):
        read(sink.getvalue().to_pybytes(), IDS_AND_UTC, RecordFormat.PARQUET)


@pytest.mark.parametrize(
    "moment",
    # The first two have nanoseconds. The others are before year 1, after 9999, and where 64-bit microseconds
    # overflow.
    [(0, 1), (20_000, 10**9 + 999), (-800_000, 0), (3_000_000, 0), (2**64 // 86_400_000_000 + 1, 0)],
)
def test_moments_of_int96_that_a_column_cannot_hold_are_bad(moment: tuple[int, int]) -> None:
    far = ((datetime(2500, 1, 1) - datetime(1970, 1, 1)).days, 0)
    body = int96(far, moment, (1, 0), far)
    rows, [bad] = read(body, IDS_AND_MOMENTS, RecordFormat.PARQUET)
    assert [row["id"] for row in rows] == [0, 2, 3]
    assert (rows[0]["at"], bad.position.number) == (datetime(2500, 1, 1), 2)
    if moment == (0, 1):
        assert json.loads(bad.payload)["at"] == "1970-01-01 00:00:00.000000001"


def test_nanoseconds_that_no_unit_tells_are_refused() -> None:
    body = int96((200_000, 1), (0, 0))
    with pytest.raises(IngestInvalid, match="INT96"):
        read(body, IDS_AND_MOMENTS, RecordFormat.PARQUET)


def test_moments_of_int96_lie_in_structs_lists_and_maps_too() -> None:
    at = pa.array([1000, 2001, None, 4000], pa.timestamp("ns"))
    inside = pa.StructArray.from_arrays([at], names=["t"])
    offsets = [0, 1, 2, 3, 4]
    table = pa.table(
        {
            "s": inside,
            "l": pa.ListArray.from_arrays(offsets, at),
            "m": pa.MapArray.from_arrays(offsets, pa.array(list("abcd")), inside),
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink, use_deprecated_int96_timestamps=True)
    moment = Primitive("timestamp")
    nested = Struct((Field(5, "t", moment),))
    fields = (
        Field(1, "s", nested),
        Field(2, "l", ListOf(Field(6, "element", moment))),
        Field(3, "m", MapOf(Field(7, "key", Primitive("string"), True), Field(8, "value", nested))),
    )
    rows, bad = read(sink.getvalue(), plan_of(*fields), RecordFormat.PARQUET)
    assert [bad_row.position.number for bad_row in bad] == [2]
    assert [row["s"]["t"] for row in rows] == [
        datetime(1970, 1, 1, 0, 0, 0, 1),
        None,
        datetime(1970, 1, 1, 0, 0, 0, 4),
    ]


def test_rows_go_where_their_column_says_and_other_columns_must_be_empty() -> None:
    id_, name = Field(1, "id", Primitive("long")), Field(2, "name", Primitive("string"))
    plan = ReadPlan((ReadTarget((id_,)), ReadTarget((name, id_))), Route("kind", {"a": 0, "7": 1}))
    table = pa.table({"id": [1, 2, 3, 4], "kind": ["a", "7", "a", "b"], "name": [None, "x", "y", None]})
    rows, bad = read(stream(table), plan)
    assert rows == [{"id": 1}, {"name": "x", "id": 2}]
    assert [(bad_row.position.number, bad_row.target) for bad_row in bad] == [(3, 0), (4, None)]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"id": [1], "nothing": [1]}),
        pa.Table.from_arrays([pa.array([1]), pa.array([1])], names=["id", "id"]),
    ],
)
def test_columns_that_are_unknown_or_there_twice_are_refused(table: pa.Table) -> None:
    with pytest.raises(IngestInvalid):
        read(stream(table), plan_of(Field(1, "id", Primitive("long"))))


@pytest.mark.parametrize("record_format", [RecordFormat.ARROW_STREAM, RecordFormat.PARQUET])
def test_too_many_columns_are_refused_by_their_names_alone(record_format: RecordFormat) -> None:
    schema = pa.schema([pa.field(f"c{number}", pa.int64()) for number in range(100_000)])
    sink = io.BytesIO()
    # Without rows, as row groups of this many columns take seconds to write.
    if record_format is RecordFormat.PARQUET:
        pq.ParquetWriter(sink, schema, store_schema=False).close()
    else:
        pa.ipc.new_stream(sink, schema).close()
    with pytest.raises(IngestInvalid, match=r"'c1', 'c2', .* and 99989 more"):
        read(sink.getvalue(), plan_of(Field(1, "c0", Primitive("long"))), record_format)


def test_pages_are_not_looked_at_where_names_are_refused() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [1], "other": [1]}), sink, compression="none")
    body = sink.getvalue()
    footer_bytes = int.from_bytes(body[-8:-4], "little") + 8
    without_pages = b"PAR1" + b"\xff" * (len(body) - footer_bytes - 4) + body[-footer_bytes:]
    with pytest.raises(IngestInvalid, match="There is no column 'other'"):
        read(without_pages, plan_of(Field(1, "id", Primitive("long"))), RecordFormat.PARQUET)


@pytest.mark.parametrize("cut", [0, 1, 8, 50, -1, -8, -9, -100])
def test_what_breaks_off_is_refused(cut: int) -> None:
    plan = plan_of(Field(1, "id", Primitive("long")))
    table = pa.table({"id": list(range(1000))})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    for body, record_format in (
        (stream(table, 100), RecordFormat.ARROW_STREAM),
        (sink.getvalue(), RecordFormat.PARQUET),
    ):
        assert len(read(body, plan, record_format)[0]) == 1000
        for damaged in (body[:cut], body + b"x"):
            with pytest.raises(IngestInvalid):
                read(damaged, plan, record_format)


def test_text_that_is_no_utf8_is_refused() -> None:
    offsets, data = pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")
    array = pa.Array.from_buffers(pa.string(), 1, [None, offsets, data])
    with pytest.raises(IngestInvalid, match="UTF8"):
        written(array, "string")
