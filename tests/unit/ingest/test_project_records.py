from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.errors import IngestInvalid
from service.ingest.project_records import project_records
from service.model.schemas import Field, Primitive
from tests.unit.ingest.wide_table import COUNTS, ID, PLACE, TAGS


def value(type_name: str, given: object) -> object:
    """What is written for it."""
    field = Field(1, "v", Primitive(type_name))
    projected = project_records([{"v": given}], [field], 10)
    if projected.bad:
        raise ValueError(projected.bad[0][1])
    [batch] = projected.batches
    written: object = batch.to_pylist()[0]["v"]
    return written


@pytest.mark.parametrize(
    ("type_name", "given", "expected"),
    [
        ("boolean", True, True),
        ("int", -(2**31), -(2**31)),
        ("long", 2**63 - 1, 2**63 - 1),
        ("float", 0.5, 0.5),
        ("double", 0.1, 0.1),
        ("double", 3, 3.0),
        ("double", "-Infinity", -math.inf),
        ("decimal(7, 2)", "12345.67", Decimal("12345.67")),
        ("decimal(7, 2)", 12.5, Decimal("12.50")),
        ("decimal(7, 2)", "1e2", Decimal("100.00")),
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
        ("double", 2**53 + 1),
        ("double", 10**400),
        ("double", "1"),
        ("decimal(7, 2)", "1.234"),
        ("decimal(7, 2)", "123456"),
        ("decimal(7, 2)", 1.234),
        ("decimal(30, 20)", 0.1234567890123456),
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
    projected = project_records([record], [ID, PLACE, TAGS, COUNTS], 10)
    assert not projected.bad
    assert projected.batches[0].to_pylist() == [
        {
            "id": 1,
            "place": {"city": None, "street": "Main"},
            "tags": [{"name": "a"}, None, {"name": None}],
            "counts": [("x", 1), ("y", None)],
        }
    ]


def test_a_reason_names_the_place_inside_of_a_column() -> None:
    records: list[dict[str, object]] = [
        {"id": 1, "place": {"city": "Ulm"}},
        {"id": 2, "tags": [{"name": 5}]},
        {"place": None},
    ]
    projected = project_records(records, [ID, PLACE, TAGS], 10)
    assert list(projected.bad) == [
        (0, "place: street is required"),
        (1, "tags: element: name: 5 is no string"),
        (2, "id is required"),
    ]
    assert projected.batches == ()


def test_a_field_outside_the_write_schema_is_refused() -> None:
    projected = project_records([{"id": 1, "extra": 1}, {"id": 2}], [ID], 10)
    assert [reason for _, reason in projected.bad] == ["there is no field extra"]
    assert [each["id"] for batch in projected.batches for each in batch.to_pylist()] == [2]


def test_all_bad_records_are_counted_and_the_first_are_told() -> None:
    projected = project_records([{"id": "x"}] * 7, [ID], 3)
    assert (len(projected.bad), projected.bad_count) == (3, 7)
