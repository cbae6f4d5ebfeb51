from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from io import BytesIO
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.arrow.columnar_rows import columnar_rows
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import FIRST, BadRow, Position, TargetRows
from service.ingest.decoding.values.exact_json import exact_json
from service.ingest.decoding.values.record_rows import RecordRows
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct
from tests.unit.ingest.wide_table import COUNTS, ID, NOTE, PLACE, TAGS


def converted(
    records: Sequence[object], fields: Sequence[Field]
) -> tuple[list[pa.RecordBatch], list[tuple[int, str]]]:
    """Returns the rows, and the index and reason of each bad one."""
    rows = RecordRows(ReadPlan((ReadTarget(tuple(fields)),)))
    taken = [rows.take(record, Position(index), b"") for index, record in enumerate(records)]
    bad = [(bad_row.position.number, bad_row.reason) for bad_row in taken if bad_row is not None]
    return [batch.rows for batch in rows.batches() if isinstance(batch, TargetRows)], bad


def value(type_name: str, given: object) -> object:
    """Returns the value that is written for the given one."""
    field = Field(1, "v", Primitive(type_name))
    batches, bad = converted([{"v": given}], [field])
    if bad:
        raise ValueError(bad[0][1])
    [batch] = batches
    written: object = batch.to_pylist()[0]["v"]
    return written


@pytest.mark.parametrize(
    ("type_name", "given", "expected"),
    [
        ("boolean", True, True),
        ("int", -(2**31), -(2**31)),
        ("long", 2**63 - 1, 2**63 - 1),
        ("float", 0.5, 0.5),
        ("float", 0.1, 0.10000000149011612),
        ("float", 16777217.0, 16777216.0),
        ("float", -(2**24), -(2.0**24)),
        ("float", 2**24 + 2, 2.0**24 + 2),
        ("float", 2**100, 2.0**100),
        ("float", 2.0**-149, 2.0**-149),
        ("float", 1e-45, 2.0**-149),
        ("float", 0, 0.0),
        ("double", 0.1, 0.1),
        ("double", 3, 3.0),
        ("double", "-Infinity", -math.inf),
        ("decimal(7, 2)", "12345.67", Decimal("12345.67")),
        ("decimal(7, 2)", 12.5, Decimal("12.50")),
        ("decimal(7, 2)", "1e2", Decimal("100.00")),
        ("decimal(7, 2)", ".5", Decimal("0.50")),
        ("decimal(30, 20)", 0.1234567890123456, Decimal("0.1234567890123456")),
        ("decimal(20, 2)", Decimal("123456789012345678.12"), Decimal("123456789012345678.12")),
        ("double", Decimal("0.1000000000000000055511151231257827"), 0.1),
        ("decimal(2, 2)", "0.25", Decimal("0.25")),
        ("decimal(38, 0)", "9" * 38, Decimal("9" * 38)),
        ("string", "naïve 🙂", "naïve 🙂"),
        ("date", "2026-01-31", date(2026, 1, 31)),
        ("time", "13:45:00.5", time(13, 45, 0, 500_000)),
        ("timestamp", "2026-01-31T13:45:00.123456", datetime(2026, 1, 31, 13, 45, 0, 123456)),
        ("timestamptz", "2026-01-31T13:45:00+02:00", datetime(2026, 1, 31, 11, 45, tzinfo=UTC)),
        ("uuid", "00000000-0000-0000-0000-000000000007", UUID(int=7).bytes),
        ("binary", "AAE=", b"\x00\x01"),
        ("fixed[2]", "AAE=", b"\x00\x01"),
        ("long", None, None),
    ],
)
def test_a_value_that_fits_is_written_as_it_is(type_name: str, given: object, expected: object) -> None:
    assert value(type_name, given) == expected


@pytest.mark.parametrize(
    ("type_name", "given"),
    [
        ("boolean", 1),
        ("boolean", "true"),
        ("int", 2**31),
        ("int", True),
        ("int", 1.0),
        ("int", "1"),
        ("long", -(2**63) - 1),
        ("float", 1e39),
        ("float", 2**24 + 1),
        ("float", -(2**24) - 1),
        ("float", 10**11),
        ("float", 1e-50),
        ("float", -1e-50),
        ("float", 2.0**-150),
        ("double", 2**53 + 1),
        ("double", 10**400),
        ("double", "1"),
        ("decimal(7, 2)", "1.234"),
        ("decimal(7, 2)", "123456"),
        ("decimal(7, 2)", 1.234),
        ("decimal(10, 2)", Decimal("1.10000000000000000001")),
        ("double", Decimal("1e400")),
        ("double", Decimal("1e-400")),
        ("long", Decimal("1.00000000000000000001")),
        ("decimal(7, 2)", "1_000"),
        ("decimal(7, 2)", " 5 "),
        ("uuid", "0x000000-0000-0000-0000-000000000007"),
        ("uuid", "+0000000000000000000000000000007"),
        ("uuid", "0000_0000000000000000000000000007"),
        ("uuid", "{00000000-0000-0000-0000-000000000007}"),
        ("uuid", "urn:uuid:00000000-0000-0000-0000-000000000007"),
        ("uuid", "٠0000000-0000-0000-0000-000000000007"),
        ("uuid", "00000000-0000-0000-0000-000000000007\n"),
        ("decimal(7, 2)", "5\n"),
        ("decimal(7, 2)", "٥"),
        ("decimal(7, 2)", "5e"),
        ("decimal(7, 2)", "1e99999999999999999999"),
        ("timestamptz", "2026-01-31T13:45:00+01:60"),
        ("decimal(7, 2)", "NaN"),
        ("decimal(7, 2)", "12,5"),
        ("decimal(7, 2)", True),
        ("string", 1),
        ("string", "half \ud800"),
        ("binary", "\ud800"),
        ("date", "2026-02-30"),
        ("date", "20260131"),
        ("date", 20000),
        ("date", "0000-01-01"),
        ("time", "25:00"),
        ("timestamp", "2026-01-31T13:45:00Z"),
        ("timestamp", "2026-01-31"),
        ("timestamptz", "2026-01-31T13:45:00"),
        ("timestamptz", "2026-01-31T13:45:00.1234567Z"),
        ("timestamptz", "0001-01-01T00:00:00+14:00"),
        ("timestamptz", 1_700_000_000),
        ("uuid", "7"),
        ("binary", "not base64!"),
        ("fixed[2]", "AAEC"),
    ],
)
def test_a_value_that_does_not_fit_exactly_is_refused_with_its_column(type_name: str, given: object) -> None:
    with pytest.raises(ValueError, match=r"^v: "):
        value(type_name, given)


@given(some.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-99999, max_value=99999))
def test_every_decimal_that_the_column_can_hold_is_taken(number: Decimal) -> None:
    assert value("decimal(7, 2)", str(number)) == number


@given(some.floats(width=32))
def test_every_float_comes_through(number: float) -> None:
    sent = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(number, number)
    written = value("float", "NaN" if math.isnan(number) else sent)
    assert isinstance(written, float)
    assert written == number or (math.isnan(written) and math.isnan(number))


def test_a_type_that_no_json_stands_for_is_refused() -> None:
    with pytest.raises(IngestInvalid, match="timestamp_ns"):
        value("timestamp_ns", "2026-01-31T13:45:00")


def test_structs_lists_and_maps_are_taken_whole() -> None:
    record = {
        "id": 1,
        "place": {"street": "Main"},
        "tags": [{"name": "a"}, None, {}],
        "counts": {"x": 1, "y": None},
    }
    batches, bad = converted([record], [ID, PLACE, TAGS, COUNTS])
    assert not bad
    assert batches[0].to_pylist() == [
        {
            "id": 1,
            "place": {"city": None, "street": "Main"},
            "tags": [{"name": "a"}, None, {"name": None}],
            "counts": [("x", 1), ("y", None)],
        }
    ]


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([{"key": "1", "valeu": "lost"}], "there is no field valeu in an entry of a map"),
        ([{"key": "1", "value": 2, "more": None}], "there is no field more in an entry of a map"),
        ([{"value": 2}], "an entry of a map has no key"),
        ([{}], "an entry of a map has no key"),
        ([{"key": None}], "key is required"),
        ([{"key": "x", "value": 1}, {"key": "x", "value": 1}], "a key stands there twice"),
    ],
)
def test_an_entry_of_a_map_is_a_key_and_a_value(entries: list[object], reason: str) -> None:
    assert converted([{"id": 1, "counts": entries}], [ID, COUNTS]) == ([], [(0, f"counts: {reason}")])
    assert converted([{"id": 1, "counts": [{"key": "x"}, {"key": "y"}]}], [ID, COUNTS])[1] == []


@pytest.mark.parametrize(
    ("type_", "keys"),
    [
        (Primitive("double"), ["NaN", "NaN"]),
        (Primitive("float"), [0.1, 0.10000000149011612]),
        (Primitive("decimal(5, 2)"), ["1.5", "1.50"]),
        (Struct((Field(9, "x", Primitive("long")),)), [{"x": 1}, {"x": 1}]),
        (ListOf(Field(9, "element", Primitive("long"))), [[1], [1]]),
    ],
)
def test_keys_are_the_same_when_their_values_are(type_: FieldType, keys: list[object]) -> None:
    kind = MapOf(Field(5, "key", type_, True), Field(6, "value", Primitive("long")))
    entries = [{"key": key} for key in keys]
    assert converted([{"v": entries}], [Field(1, "v", kind)])[1] == [(0, "v: a key stands there twice")]
    assert converted([{"v": entries[:1]}], [Field(1, "v", kind)])[1] == []


def test_a_reason_names_the_place_inside_of_a_column() -> None:
    records: list[dict[str, object]] = [
        {"id": 1, "place": {"city": "Ulm"}},
        {"id": 2, "tags": [{"name": 5}]},
        {"place": None},
    ]
    batches, bad = converted(records, [ID, PLACE, TAGS])
    assert bad == [
        (0, "place: street is required"),
        (1, "tags: element: name: 5 is not a string"),
        (2, "id is required"),
    ]
    assert batches == []


def test_a_field_outside_the_write_schema_is_refused() -> None:
    batches, bad = converted([{"id": 1, "extra": 1}, {"id": 2}], [ID])
    assert bad == [(0, "there is no field extra")]
    assert [row["id"] for batch in batches for row in batch.to_pylist()] == [2]


def routed(otherwise: int | None = None) -> RecordRows:
    route = Route("kind", {"http": 0, "7": 1}, otherwise)
    return RecordRows(ReadPlan((ReadTarget((ID,)), ReadTarget((ID, NOTE))), route))


def test_records_go_where_their_field_says() -> None:
    rows = routed()
    for record in ({"id": 1, "kind": "http"}, {"id": 2, "kind": 7, "note": "a"}, {"id": 3, "kind": "http"}):
        assert rows.take(record, FIRST, b"") is None
    batches = [batch for batch in rows.batches() if isinstance(batch, TargetRows)]
    found = [(batch.target, batch.rows.to_pylist()) for batch in batches]
    assert found == [(0, [{"id": 1}, {"id": 3}]), (1, [{"id": 2, "note": "a"}])]
    assert list(rows.batches()) == []


@pytest.mark.parametrize("kind", ["dns", None, 7.0, [], {"a": 1}])
def test_a_record_without_a_route_is_bad_unless_one_takes_the_rest(kind: object) -> None:
    bad = routed().take({"id": 1, "kind": kind}, Position(3), b"x")
    assert bad is not None
    assert (bad.target, bad.position, bad.payload) == (None, Position(3), b"x")
    assert bad.reason.startswith("kind: there is no route for")
    assert routed(otherwise=0).take({"id": 1, "kind": kind}, FIRST, b"") is None


@pytest.mark.parametrize("spelled", ["1.5", "1.50", "15e-1", "1.50000000000000000000"])
def test_numbers_with_a_fraction_go_by_the_fewest_digits_that_tell_them(spelled: str) -> None:
    plan = ReadPlan((ReadTarget((ID,)),), Route("kind", {"1.5": 0}))
    rows = RecordRows(plan)
    assert rows.take(exact_json(f'{{"id": 1, "kind": {spelled}}}'), FIRST, b"") is None
    for lines in (f'{{"id":1,"kind":{spelled}}}', f' {{"id":1,"kind":{spelled}}}'):
        [found] = read_rows(BytesIO(lines.encode()), RecordFormat.NDJSON, plan)
        assert isinstance(found, TargetRows)
        assert found.rows.to_pylist() == [{"id": 1}]
    kinds: list[pa.Array] = [pa.array([1.5]), pa.array([Decimal(spelled)]), pa.array([1.5], pa.float32())]
    for kind in kinds:
        batch = pa.RecordBatch.from_arrays([pa.array([1]), kind], names=["id", "kind"])
        [arrow] = columnar_rows(iter([batch]), plan, FIRST)
        assert isinstance(arrow, TargetRows)


@pytest.mark.parametrize(
    "spelled", ["1.5000000000000000000001", "1e400", "1.6", "[1.5]", '{"a":1.5}', "1e-99999999999999999999"]
)
def test_other_numbers_have_no_route(spelled: str) -> None:
    plan = ReadPlan((ReadTarget((ID,)),), Route("kind", {"1.5": 0, "inf": 0, "Infinity": 0}))
    [bad] = read_rows(BytesIO(f'{{"id":1,"kind":{spelled}}}'.encode()), RecordFormat.NDJSON, plan)
    assert isinstance(bad, BadRow)
    assert bad.target is None


def test_the_field_that_routes_is_written_only_where_it_is_a_column() -> None:
    kind = Field(9, "kind", Primitive("string"))
    rows = RecordRows(ReadPlan((ReadTarget((ID, kind)),), Route("kind", {"a": 0})))
    assert rows.take({"id": 1, "kind": "a"}, FIRST, b"") is None
    [found] = rows.batches()
    assert isinstance(found, TargetRows)
    assert found.rows.to_pylist() == [{"id": 1, "kind": "a"}]
