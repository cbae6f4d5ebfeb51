"""Dead letters of any year can be sent again: unchanged they mean the same, corrected they fit."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as some

from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow
from service.model.calendar import FIRST_DAY, LAST_DAY, date_text, moment_text
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.schemas import Field, ListOf, MapOf, Primitive, Struct

DAY, MOMENT, ZONED = Primitive("date"), Primitive("timestamp"), Primitive("timestamptz")
FIELDS = (
    Field(1, "id", Primitive("long"), True),
    Field(2, "d", DAY),
    Field(3, "t", MOMENT),
    Field(4, "z", ZONED),
    Field(5, "l", ListOf(Field(8, "element", DAY))),
    Field(6, "s", Struct((Field(9, "z", ZONED),))),
    Field(7, "m", MapOf(Field(10, "key", Primitive("string"), True), Field(11, "value", MOMENT))),
)
PLAN = ReadPlan((ReadTarget(FIELDS),))
US_A_DAY = 86_400 * 10**6
FIRST_US, LAST_US = FIRST_DAY * US_A_DAY, (LAST_DAY + 1) * US_A_DAY - 1
# As many days are within the years 1 to 9999 as beyond, with the first and last ones.
DAYS = some.one_of(
    some.integers(-(2**31), 2**31 - 1),
    some.integers(FIRST_DAY, LAST_DAY),
    some.sampled_from([FIRST_DAY - 1, FIRST_DAY, LAST_DAY, LAST_DAY + 1]),
)
TICKS = some.one_of(
    some.integers(-(2**63), 2**63 - 1),
    some.integers(FIRST_US, LAST_US),
    some.sampled_from([FIRST_US - 1, FIRST_US, LAST_US, LAST_US + 1]),
)
ROWS = some.tuples(DAYS, TICKS, TICKS, DAYS, TICKS, TICKS)


def days(numbers: list[int]) -> pa.Array:
    return pa.array(numbers, pa.int32()).view(pa.date32())


def moments(numbers: list[int], zone: str | None = None) -> pa.Array:
    return pa.array(numbers, pa.int64()).view(pa.timestamp("us", zone))


def stream(rows: list[tuple[int, ...]]) -> bytes:
    d, t, z, in_list, in_struct, in_map = (list(column) for column in zip(*rows, strict=True))
    offsets = list(range(len(rows) + 1))
    table = pa.table(
        {
            "id": list(range(len(rows))),
            "d": days(d),
            "t": moments(t),
            "z": moments(z, "UTC"),
            "l": pa.ListArray.from_arrays(offsets, days(in_list)),
            "s": pa.StructArray.from_arrays([moments(in_struct, "UTC")], names=["z"]),
            "m": pa.MapArray.from_arrays(offsets, pa.array(["k"] * len(rows)), moments(in_map)),
        }
    )
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def read(body: bytes, record_format: RecordFormat) -> tuple[dict[int, tuple[int, ...]], list[BadRow]]:
    """Returns the numbers of good rows by id, as in `ROWS`, and the bad rows."""
    good: dict[int, tuple[int, ...]] = {}
    bad: list[BadRow] = []
    for row in read_rows(io.BytesIO(body), record_format, PLAN):
        if isinstance(row, BadRow):
            bad.append(row)
        else:
            good |= numbers_of(row.rows)
    return good, bad


def numbers_of(rows: pa.RecordBatch) -> dict[int, tuple[int, ...]]:
    columns = [
        rows["d"].view(pa.int32()),
        rows["t"].view(pa.int64()),
        rows["z"].view(pa.int64()),
        rows["l"].flatten().view(pa.int32()),
        rows["s"].field("z").view(pa.int64()),
        rows["m"].items.view(pa.int64()),
    ]
    values = zip(*(column.to_pylist() for column in columns), strict=True)
    return dict(zip(rows["id"].to_pylist(), values, strict=True))


def within(row: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the row with 0 in place of values outside the years 1 to 9999."""
    bounds = [(FIRST_DAY, LAST_DAY) if at in (0, 3) else (FIRST_US, LAST_US) for at in range(6)]
    return tuple(
        value if first <= value <= last else 0 for value, (first, last) in zip(row, bounds, strict=True)
    )


def payload_of(number: int, row: tuple[int, ...], text: Callable[[int, int], str]) -> dict[str, Any]:
    d, t, z, in_list, in_struct, in_map = (text(at, value) for at, value in enumerate(row))
    by_name = [{"key": "k", "value": in_map}]
    return {"id": number, "d": d, "t": t, "z": z, "l": [in_list], "s": {"z": in_struct}, "m": by_name}


def text_of(place: int, number: int) -> str:
    return date_text(number) if place in (0, 3) else moment_text(number, "us", is_utc=place in (2, 4))


@given(some.lists(ROWS, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_dead_letters_of_far_years_are_sent_again(rows: list[tuple[int, ...]]) -> None:
    good, dead_letters = read(stream(rows), RecordFormat.ARROW_STREAM)
    assert good == {number: row for number, row in enumerate(rows) if row == within(row)}
    far = {number: row for number, row in enumerate(rows) if row != within(row)}
    expected = [payload_of(number, row, text_of) for number, row in far.items()]
    assert [json.loads(letter.payload) for letter in dead_letters] == expected

    sent_again = b"".join(letter.payload + b"\n" for letter in dead_letters)
    none, again = read(sent_again, RecordFormat.NDJSON)
    assert (none, [bad_row.payload for bad_row in again]) == ({}, [letter.payload for letter in dead_letters])
    assert all("years 1 to 9999" in bad_row.reason or "out of range" in bad_row.reason for bad_row in again)

    corrected = [json.dumps(payload_of(number, within(row), text_of)) for number, row in far.items()]
    found, still_bad = read("\n".join(corrected).encode(), RecordFormat.NDJSON)
    assert (found, still_bad) == ({number: within(row) for number, row in far.items()}, [])
