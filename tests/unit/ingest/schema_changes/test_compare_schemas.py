"""The cases of Iceberg's TestCompareSchemasVisitor and TestEvolveSchemaVisitor, and some they lack."""

from __future__ import annotations

import pytest

from service.ingest.schema_changes.change_schema import change_schema
from service.ingest.schema_changes.compare_schemas import compare_schemas
from service.model.tables.schema_changes import (
    AddField,
    DifferenceKind,
    MakeOptional,
    SchemaChange,
    SchemaMatch,
    WidenField,
)
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct

SAME = SchemaMatch.SAME
CONVERSION = SchemaMatch.DATA_CONVERSION_NEEDED
UPDATE = SchemaMatch.SCHEMA_UPDATE_NEEDED


def optional(field_id: int, name: str, kind: str | FieldType, **more: object) -> Field:
    type_ = Primitive(kind) if isinstance(kind, str) else kind
    return Field(field_id, name, type_, **more)  # type: ignore[arg-type]


def required(field_id: int, name: str, kind: str | FieldType) -> Field:
    return optional(field_id, name, kind, is_required=True)


def struct(*fields: Field) -> Struct:
    return Struct(fields)


def list_of(kind: str | FieldType, *, is_required: bool = False) -> ListOf:
    return ListOf(optional(90, "element", kind, is_required=is_required))


def map_of(key: str | FieldType, value: str | FieldType, *, is_required: bool = False) -> MapOf:
    return MapOf(required(91, "key", key), optional(92, "value", value, is_required=is_required))


ID, DATA, EXTRA = optional(1, "id", "int"), optional(2, "data", "string"), optional(3, "extra", "string")
LONG_ID, REQUIRED_ID, REQUIRED_EXTRA = (
    optional(1, "id", "long"),
    required(1, "id", "int"),
    required(2, "extra", "string"),
)


@pytest.mark.parametrize(
    ("given", "table", "match"),
    [
        pytest.param((ID, DATA, EXTRA), (ID, DATA, EXTRA), SAME, id="the same"),
        pytest.param((optional(0, "id", "int", doc="a"),), (ID,), SAME, id="ids and comments say nothing"),
        pytest.param((ID, DATA, EXTRA), (ID, DATA), UPDATE, id="one more"),
        pytest.param((ID, DATA), (ID, DATA, EXTRA), CONVERSION, id="one less"),
        pytest.param((DATA, ID), (ID, DATA), CONVERSION, id="another order"),
        pytest.param((LONG_ID, EXTRA), (ID, EXTRA), UPDATE, id="a wider type"),
        pytest.param((ID, EXTRA), (LONG_ID, EXTRA), CONVERSION, id="a narrower type"),
        pytest.param((ID, EXTRA), (REQUIRED_ID, EXTRA), UPDATE, id="optional here, required there"),
        pytest.param((REQUIRED_ID, EXTRA), (ID, EXTRA), SAME, id="required here, optional there"),
        pytest.param((ID,), (ID, REQUIRED_EXTRA), UPDATE, id="without a required one"),
        pytest.param((ID, REQUIRED_EXTRA), (ID,), UPDATE, id="with one more, required"),
        pytest.param((REQUIRED_ID,), (REQUIRED_ID, EXTRA), CONVERSION, id="without an optional one"),
        pytest.param(
            (optional(1, "s", struct(ID)),), (optional(0, "s", struct(ID)),), SAME, id="struct, the same"
        ),
        pytest.param(
            (optional(1, "s", struct(LONG_ID)),), (optional(1, "s", struct(ID)),), UPDATE, id="struct, wider"
        ),
        pytest.param(
            (optional(1, "s", struct(ID)),),
            (optional(1, "s", struct(ID, DATA)),),
            CONVERSION,
            id="struct with less",
        ),
        pytest.param(
            (optional(1, "s", struct(ID)),),
            (optional(1, "s", struct(ID, REQUIRED_EXTRA)),),
            UPDATE,
            id="struct without a required one",
        ),
        pytest.param(
            (optional(1, "m", map_of("int", "string")),),
            (optional(7, "m", map_of("int", "string")),),
            SAME,
            id="map, the same",
        ),
        pytest.param(
            (optional(1, "m", map_of("int", "int")),),
            (optional(1, "m", map_of("long", "long")),),
            CONVERSION,
            id="map, narrower",
        ),
        pytest.param(
            (optional(1, "l", list_of("int")),),
            (optional(7, "l", list_of("int")),),
            SAME,
            id="list, the same",
        ),
        pytest.param(
            (optional(1, "l", list_of("long")),),
            (optional(1, "l", list_of("int")),),
            UPDATE,
            id="list, wider",
        ),
        pytest.param(
            (optional(1, "l", list_of("date")),),
            (optional(1, "l", list_of("timestamp")),),
            CONVERSION,
            id="days for moments",
        ),
        pytest.param((), (), SAME, id="nothing at all"),
    ],
)
def test_a_schema_is_matched_by_name(
    given: tuple[Field, ...], table: tuple[Field, ...], match: SchemaMatch
) -> None:
    assert compare_schemas(given, table).match is match


def test_a_match_is_the_more_the_further_it_is() -> None:
    assert SAME < CONVERSION < UPDATE


NEW = optional(0, "new", "string")


@pytest.mark.parametrize(
    ("given", "table", "changes"),
    [
        pytest.param((ID, required(9, "new", "string")), (ID,), [AddField((), NEW)], id="new is optional"),
        pytest.param((), (REQUIRED_ID, DATA), [MakeOptional(("id",))], id="nothing is dropped"),
        pytest.param((LONG_ID,), (REQUIRED_ID,), [MakeOptional(("id",)), WidenField(("id",), "int", "long")]),
        pytest.param(
            (optional(1, "x", "double"),),
            (optional(1, "x", "float"),),
            [WidenField(("x",), "float", "double")],
        ),
        pytest.param(
            (optional(1, "x", "decimal(22, 1)"),),
            (optional(1, "x", "decimal(20, 1)"),),
            [WidenField(("x",), "decimal(20, 1)", "decimal(22, 1)")],
        ),
        pytest.param(
            (ID, optional(2, "age", "int")),
            (LONG_ID,),
            [AddField((), optional(0, "age", "int"))],
            id="what is wider already stays",
        ),
        pytest.param(
            (optional(1, "s", struct(optional(2, "l", list_of(struct(LONG_ID, NEW))))),),
            (optional(1, "s", struct(optional(2, "l", list_of(struct(REQUIRED_ID))))),),
            [
                MakeOptional(("s", "l", "element", "id")),
                WidenField(("s", "l", "element", "id"), "int", "long"),
                AddField(("s", "l", "element"), NEW),
            ],
            id="deep inside",
        ),
        pytest.param(
            (optional(1, "m", map_of("string", struct(ID, NEW))),),
            (optional(1, "m", map_of("string", struct(ID), is_required=True)),),
            [MakeOptional(("m", "value")), AddField(("m", "value"), NEW)],
            id="values of maps",
        ),
        pytest.param(
            (optional(1, "l", list_of("int")),),
            (optional(1, "l", list_of("int", is_required=True)),),
            [MakeOptional(("l", "element"))],
            id="elements",
        ),
        pytest.param(
            (optional(5, "s", struct(required(6, "a", "int"))),),
            (),
            [AddField((), optional(0, "s", struct(required(0, "a", "int"))))],
            id="inside of what is new all is as given",
        ),
    ],
)
def test_a_table_can_take_over(
    given: tuple[Field, ...], table: tuple[Field, ...], changes: list[SchemaChange]
) -> None:
    comparison = compare_schemas(given, table)
    assert (comparison.changes, comparison.differences) == (tuple(changes), ())
    after = change_schema(table, comparison.changes)
    assert compare_schemas(given, after).match is not UPDATE


@pytest.mark.parametrize(
    ("given", "table", "column", "kind"),
    [
        (optional(1, "l", list_of("long")), optional(1, "l", list_of("string")), "l.element", "TYPE_DIFFERS"),
        (
            optional(1, "m", map_of("string", "long")),
            optional(1, "m", map_of("string", "string")),
            "m.value",
            "TYPE_DIFFERS",
        ),
        (
            optional(1, "m", map_of("uuid", "string")),
            optional(1, "m", map_of("string", "string")),
            "m.key",
            "TYPE_DIFFERS",
        ),
        (
            optional(1, "m", map_of("long", "string")),
            optional(1, "m", map_of("int", "string")),
            "m.key",
            "MAP_KEY_DIFFERS",
        ),
        (
            optional(1, "m", map_of(struct(ID, NEW), "string")),
            optional(1, "m", map_of(struct(ID), "string")),
            "m.key.new",
            "MAP_KEY_DIFFERS",
        ),
        (optional(1, "c", "string"), optional(1, "c", list_of("string")), "c", "TYPE_DIFFERS"),
        (optional(1, "c", struct(ID)), optional(1, "c", map_of("string", "int")), "c", "TYPE_DIFFERS"),
        (optional(1, "c", "decimal(9, 3)"), optional(1, "c", "decimal(7, 2)"), "c", "TYPE_DIFFERS"),
        (optional(1, "c", "timestamp"), optional(1, "c", "date"), "c", "TYPE_DIFFERS"),
        (optional(1, "c", "date"), optional(1, "c", "timestamptz"), "c", "TYPE_DIFFERS"),
        (optional(1, "c", "timestamptz"), optional(1, "c", "timestamp"), "c", "TYPE_DIFFERS"),
        (optional(1, "c", "double"), optional(1, "c", "int"), "c", "TYPE_DIFFERS"),
        (optional(1, "c", "int", write_default=1), optional(1, "c", "int"), "c", "DEFAULT_DIFFERS"),
    ],
)
def test_what_no_table_takes_over_is_reported_with_its_field(
    given: Field, table: Field, column: str, kind: str
) -> None:
    comparison = compare_schemas((given,), (table,))
    assert comparison.match is UPDATE
    assert [(difference.column, difference.kind) for difference in comparison.differences] == [
        (column, DifferenceKind(kind))
    ]


def test_all_that_differs_is_reported_at_once() -> None:
    given = (optional(1, "a", "int"), optional(2, "b", "int"), optional(3, "c", "long"))
    table = (optional(1, "a", "string"), optional(2, "b", "boolean"), optional(3, "c", "int"))
    comparison = compare_schemas(given, table)
    assert [difference.detail for difference in comparison.differences] == [
        "a is string in the table, which cannot become int.",
        "b is boolean in the table, which cannot become int.",
    ]
    assert comparison.changes == (WidenField(("c",), "int", "long"),)
