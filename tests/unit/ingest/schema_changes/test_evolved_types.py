"""Schema changes and conversions work for every type at any depth."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import TargetRows
from service.ingest.schema_changes.change_schema import change_schema
from service.ingest.schema_changes.compare_schemas import compare_schemas
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.schema_changes import AddField, MakeOptional, SchemaMatch
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct, with_children

PRIMITIVES = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(9, 2)",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "string",
    "uuid",
    "fixed[12]",
    "binary",
)
STRING = Primitive("string")
DEPTH = 9


def optional(name: str, kind: FieldType) -> Field:
    return Field(0, name, kind)


def required(name: str, kind: FieldType) -> Field:
    return Field(0, name, kind, is_required=True)


def list_of(kind: FieldType) -> ListOf:
    return ListOf(optional("element", kind))


def map_of(kind: FieldType) -> MapOf:
    return MapOf(required("key", kind), optional("value", kind))


def named(kind: FieldType) -> MapOf:
    return MapOf(required("key", STRING), optional("value", kind))


def struct_of(kind: FieldType) -> Struct:
    return Struct((optional("inner", kind),))


def evolved(given: tuple[Field, ...], table: tuple[Field, ...]) -> tuple[Field, ...]:
    """Returns the table's columns after all changes that the schema asks for, without differences."""
    comparison = compare_schemas(given, table)
    assert comparison.differences == ()
    return change_schema(table, comparison.changes)


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_a_column_of_every_type_is_added_alone_and_inside_of_others(kind: str) -> None:
    type_ = Primitive(kind)
    given = (
        optional("alone", type_),
        optional("in_list", list_of(type_)),
        optional("in_map", map_of(type_)),
        optional("in_struct", struct_of(type_)),
    )
    assert evolved(given, ()) == given
    before = (optional("in_struct", Struct((optional("other", STRING),))),)
    [after] = evolved((optional("in_struct", struct_of(type_)),), before)
    assert after.type == Struct((optional("other", STRING), optional("inner", type_)))


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_what_is_required_and_not_sent_becomes_optional_and_nothing_inside_of_it_changes(kind: str) -> None:
    type_ = Primitive(kind)
    inside = ListOf(required("element", type_))
    table = (required("alone", type_), required("all", inside), optional("list", inside))
    changes = compare_schemas((), table).changes
    assert changes == (MakeOptional(("alone",)), MakeOptional(("all",)))
    assert evolved((), table) == (optional("alone", type_), optional("all", inside), optional("list", inside))


@pytest.mark.parametrize("around", [list_of, named, struct_of], ids=["lists", "maps", "structs"])
def test_what_is_nested_deeply_is_added_whole_and_matched(around: Callable[[FieldType], FieldType]) -> None:
    kind: FieldType = Primitive("decimal(20, 11)")
    for _ in range(DEPTH):
        kind = around(kind)
    given = (optional("deep", kind),)
    assert evolved(given, ()) == given
    assert compare_schemas(given, given).match is SchemaMatch.SAME


def test_structs_in_structs_are_added_where_they_belong_whatever_they_are_called() -> None:
    """A field may have the name of a field that contains it."""
    repeated = optional("s1", struct_of(struct_of(STRING)))
    before = (required("s1", Struct((optional("s2", Struct((optional("s3", STRING),))),))),)
    given = (required("s1", Struct((optional("s2", Struct((optional("s3", STRING), repeated))),))),)
    comparison = compare_schemas(given, before)
    assert comparison.changes == (AddField(("s1", "s2"), repeated),)
    assert evolved(given, before) == given


def test_a_struct_deep_inside_that_is_not_sent_becomes_optional_with_all_that_is_in_it() -> None:
    inner = Struct((required("a", STRING), optional("b", STRING)))
    table = (required("s", Struct((optional("kept", STRING), required("left", inner)))),)
    given = (required("s", Struct((optional("kept", STRING),))),)
    assert compare_schemas(given, table).changes == (MakeOptional(("s", "left")),)
    assert evolved(given, table) == (
        required("s", Struct((optional("kept", STRING), optional("left", inner)))),
    )


def test_names_that_differ_in_their_case_are_different_names() -> None:
    """Whether the table may have both is checked elsewhere: it may not, which is `NAME_TAKEN`."""
    given, table = (optional("ID", STRING),), (optional("id", STRING),)
    assert compare_schemas(given, table).changes == (AddField((), optional("ID", STRING)),)


CONVERSIONS = {
    "int": (pa.array([1, -(2**31), None], pa.int32()), "long"),
    "float": (pa.array([0.5, -1.25, None], pa.float32()), "double"),
    "decimal(9, 2)": (
        pa.array([Decimal("1.25"), Decimal("-9999999.99"), None], pa.decimal128(9, 2)),
        "decimal(20, 2)",
    ),
}


@pytest.mark.parametrize("given", CONVERSIONS)
def test_what_is_said_to_need_conversion_is_converted_alone_and_inside_of_others(given: str) -> None:
    array, wider = CONVERSIONS[given]
    values = array.to_pylist()
    in_structs = pa.StructArray.from_arrays([array], ["inner"])
    in_lists = pa.ListArray.from_arrays(list(range(len(array) + 1)), array)
    columns: list[tuple[Callable[[FieldType], FieldType], pa.Array, list[object]]] = [
        (lambda kind: kind, array, values),
        (struct_of, in_structs, [{"inner": value} for value in values]),
        (list_of, in_lists, [[value] for value in values]),
    ]
    for around, column, expected in columns:
        sent, table = optional("v", around(Primitive(given))), optional("v", around(Primitive(wider)))
        assert compare_schemas((sent,), (table,)).match is SchemaMatch.DATA_CONVERSION_NEEDED
        assert read(column, with_ids(table)) == expected


def read(column: pa.Array, field: Field) -> list[object]:
    sink = io.BytesIO()
    rows = pa.table({"v": column})
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    plan = ReadPlan((ReadTarget((field,)),))
    found: list[object] = []
    for part in read_rows(io.BytesIO(sink.getvalue()), RecordFormat.ARROW_STREAM, plan):
        assert isinstance(part, TargetRows), part
        found += [row["v"] for row in part.rows.to_pylist()]
    return found


def with_ids(field: Field) -> Field:
    """Returns the field with ids, as a table has it."""
    inner = tuple(replace(child, field_id=2) for child in field.children)
    return replace(field, field_id=1, type=with_children(field.type, inner) if inner else field.type)
