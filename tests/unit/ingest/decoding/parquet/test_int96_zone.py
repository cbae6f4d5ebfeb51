"""INT96 timestamps are UTC, at any depth of a type."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct

LEAVES = some.sampled_from([Primitive("timestamptz"), Primitive("timestamp"), Primitive("long")])
# These are the values that PyArrow can write as INT96.
MOMENTS = some.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1))


def inside(name: str, kind: FieldType, is_required: bool = False) -> Field:
    return Field(0, name, kind, is_required)


def structs(kinds: some.SearchStrategy[FieldType]) -> some.SearchStrategy[FieldType]:
    return some.lists(kinds, min_size=1, max_size=3).map(
        lambda found: Struct(tuple(inside(f"f{place}", kind) for place, kind in enumerate(found)))
    )


TYPES: some.SearchStrategy[FieldType] = some.recursive(
    LEAVES,
    lambda below: some.one_of(
        structs(below),
        below.map(lambda kind: ListOf(inside("element", kind))),
        below.map(lambda kind: MapOf(inside("key", Primitive("string"), True), inside("value", kind))),
    ),
    max_leaves=6,
)


def arrow_type(kind: FieldType) -> pa.DataType:
    """Returns the Parquet type, which does not say whether a timestamp is UTC."""
    match kind:
        case Primitive("long"):
            return pa.int64()
        case Primitive():
            return pa.timestamp("us")
        case Struct(fields):
            return pa.struct([(field.name, arrow_type(field.type)) for field in fields])
        case ListOf(element):
            return pa.list_(pa.field("element", arrow_type(element.type)))
        case MapOf(_, value):
            return pa.map_(pa.string(), arrow_type(value.type))


def values(kind: FieldType) -> some.SearchStrategy[Any]:
    return some.none() | filled(kind)


def filled(kind: FieldType) -> some.SearchStrategy[Any]:
    match kind:
        case Primitive("long"):
            return some.integers(-(2**63), 2**63 - 1)
        case Primitive():
            return MOMENTS
        case Struct(fields):
            return some.fixed_dictionaries({field.name: values(field.type) for field in fields})
        case ListOf(element):
            return some.lists(values(element.type), max_size=3)
        case MapOf(_, value):
            return some.dictionaries(some.text("abc", max_size=2), values(value.type), max_size=3).map(
                lambda found: list(found.items())
            )


def expected(value: Any, kind: FieldType) -> Any:
    """Returns the value with timestamps in UTC exactly where the type has a zone."""
    match kind:
        case _ if value is None:
            return None
        case Primitive("timestamptz"):
            return value.replace(tzinfo=UTC)
        case Struct(fields):
            return {field.name: expected(value[field.name], field.type) for field in fields}
        case ListOf(element):
            return [expected(item, element.type) for item in value]
        case MapOf(_, of_values):
            return [(key, expected(item, of_values.type)) for key, item in value]
        case _:
            return value


def parquet(kind: FieldType, rows: list[Any], *, has_int96: bool = True) -> bytes:
    sink = io.BytesIO()
    table = pa.table({"id": list(range(len(rows))), "v": pa.array(rows, arrow_type(kind))})
    pq.write_table(table, sink, use_deprecated_int96_timestamps=has_int96, row_group_size=2)
    return sink.getvalue()


def read(body: bytes, kind: FieldType) -> list[Any]:
    plan = ReadPlan((ReadTarget((Field(1, "id", Primitive("long")), Field(2, "v", kind))),))
    found = list(read_rows(io.BytesIO(body), RecordFormat.PARQUET, plan))
    assert not any(isinstance(routed, BadRow) for routed in found)
    return [row["v"] for routed in found if not isinstance(routed, BadRow) for row in routed.rows.to_pylist()]


@given(some.data())
@settings(max_examples=150, deadline=None)
def test_moments_of_int96_are_utc_at_every_depth(data: some.DataObject) -> None:
    kind = data.draw(TYPES)
    rows = data.draw(some.lists(values(kind), min_size=1, max_size=5))
    assert read(parquet(kind, rows), kind) == [expected(row, kind) for row in rows]


@pytest.mark.parametrize(
    "kind",
    [
        Primitive("timestamptz"),
        ListOf(inside("element", Primitive("timestamptz"))),
        Struct((inside("f", Primitive("timestamptz")), inside("g", Primitive("long")))),
        MapOf(inside("key", Primitive("string"), True), inside("value", Primitive("timestamptz"))),
    ],
)
def test_moments_without_a_zone_stay_what_they_are_at_every_depth(kind: FieldType) -> None:
    with pytest.raises(IngestInvalid, match="not accepted as timestamptz"):
        read(parquet(kind, [None], has_int96=False), kind)
