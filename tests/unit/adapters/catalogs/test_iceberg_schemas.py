from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.schema import Schema
from pyiceberg.types import DateType, DecimalType, NestedField, StringType

from service.adapters.catalogs.iceberg_schema_json import schema_from_json, schema_to_json
from service.adapters.catalogs.iceberg_schemas import pyiceberg_schema, table_schema
from service.errors.ingest_errors import IngestInvalid
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct, TableSchema

PRIMITIVES = [
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "string",
]
NAMES = st.sampled_from([*PRIMITIVES, "uuid", "binary", "fixed[3]", "decimal(7, 2)"])


def numbered(column: FieldType, ids: list[int]) -> FieldType:
    """Returns the type with a new id for each field."""

    def field(child: Field) -> Field:
        ids.append(len(ids) + 1)
        return Field(ids[-1], child.name, numbered(child.type, ids), child.is_required)

    match column:
        case Struct(fields):
            return Struct(tuple(field(child) for child in fields))
        case ListOf(element):
            return ListOf(field(element))
        case MapOf(key, value):
            return MapOf(field(key), field(value))
        case Primitive():
            return column


def containers(inner: st.SearchStrategy[FieldType]) -> st.SearchStrategy[FieldType]:
    structs = st.lists(st.tuples(inner, st.booleans()), min_size=1, max_size=3).map(
        lambda parts: Struct(tuple(Field(0, f"f{n}", kind, need) for n, (kind, need) in enumerate(parts)))
    )
    lists = st.tuples(inner, st.booleans()).map(lambda part: ListOf(Field(0, "element", *part)))
    maps = st.tuples(inner, inner, st.booleans()).map(
        lambda part: MapOf(Field(0, "key", part[0], True), Field(0, "value", part[1], part[2]))
    )
    return structs | lists | maps


TYPES: st.SearchStrategy[FieldType] = st.recursive(NAMES.map(Primitive), containers, max_leaves=6)
SCHEMAS = st.lists(TYPES, min_size=1, max_size=3).map(
    lambda kinds: numbered(Struct(tuple(Field(0, f"c{n}", kind) for n, kind in enumerate(kinds))), [])
)


@given(SCHEMAS, st.integers(0, 9))
def test_a_schema_comes_back_from_pyiceberg_and_from_json(columns: FieldType, schema_id: int) -> None:
    assert isinstance(columns, Struct)
    schema = TableSchema(schema_id, columns.fields)
    assert table_schema(pyiceberg_schema(schema)) == schema
    assert schema_from_json(schema_to_json(schema)) == schema
    assert Schema.model_validate(schema_to_json(schema)) == pyiceberg_schema(schema)


def test_defaults_identifiers_and_comments_are_preserved() -> None:
    columns = (
        Field(1, "id", Primitive("long"), is_required=True, doc="who"),
        Field(2, "day", Primitive("date"), initial_default="2026-01-31", write_default="2026-02-01"),
        Field(3, "on", Primitive("boolean"), initial_default=False),
    )
    schema = TableSchema(2, columns, frozenset({1}))
    assert table_schema(pyiceberg_schema(schema)) == schema
    assert schema_from_json(schema_to_json(schema)) == schema


def test_a_default_that_was_set_in_python_is_reported_as_json_has_it() -> None:
    schema = Schema(
        NestedField(1, "d", DateType(), initial_default=date(2026, 1, 31)),
        NestedField(2, "n", DecimalType(5, 2), write_default=Decimal("1.50")),
    )
    [day, number] = table_schema(schema).columns
    assert (day.initial_default, number.write_default) == ("2026-01-31", "1.50")


def field(**changes: Any) -> dict[str, Any]:
    return {"id": 1, "name": "a", "type": "int", "required": False} | changes


@pytest.mark.parametrize(
    ("json", "place", "message"),
    [
        (None, "schema", "an object"),
        ({}, "fields", "a list"),
        ({"fields": [7]}, "fields[0]", "an object"),
        ({"fields": [field(id="1")]}, "fields[0].id", "a whole number"),
        ({"fields": [field(id=True)]}, "fields[0].id", "a whole number"),
        ({"fields": [field(id=2**31)]}, "fields[0].id", "a whole number"),
        ({"fields": [field(name="")]}, "fields[0].name", "not empty"),
        ({"fields": [field(required="yes")]}, "fields[0].required", "true or false"),
        ({"fields": [field(doc=1)]}, "fields[0].doc", "a text"),
        ({"fields": [field(name="a\ud800")]}, "fields[0].name", "half of a character"),
        ({"fields": [field(name="a\0")]}, "fields[0].name", "NUL"),
        ({"fields": [field(doc="\udc00")]}, "fields[0].doc", "half of a character"),
        ({"fields": [field(doc="\0")]}, "fields[0].doc", "NUL"),
        ({"fields": [field(type="integer")]}, "fields[0].type", "'integer'"),
        ({"fields": [field(type="decimal(39, 2)")]}, "fields[0].type", "decimal"),
        ({"fields": [field(type="decimal(3, 4)")]}, "fields[0].type", "decimal"),
        ({"fields": [field(type="fixed[0]")]}, "fields[0].type", "fixed"),
        ({"fields": [field(type={"type": "set"})]}, "fields[0].type", "'set'"),
        (
            {"fields": [field(type={"type": "list", "element-id": 2, "element": 3})]},
            "fields[0].type.element",
            "an object",
        ),
        ({"fields": [field(), field(name="b")]}, "fields", "id 1"),
        ({"fields": [field(), field(id=2)]}, "fields", "'a'"),
        ({"fields": [field()], "identifier-field-ids": [2]}, "identifier-field-ids", "2"),
        ({"fields": [field()], "identifier-field-ids": [[2]]}, "identifier-field-ids", "2"),
        ({"fields": [field()], "schema-id": -1}, "schema-id", "a whole number"),
    ],
)
def test_every_mistake_is_named_with_its_place(json: object, place: str, message: str) -> None:
    with pytest.raises(IngestInvalid) as refused:
        schema_from_json(json)
    reported = [violation.fault.detail for violation in refused.value.violations]
    assert any(detail.startswith(f"{place}: ") and message in detail for detail in reported)


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(IngestInvalid) as refused:
        schema_from_json({"fields": [field(id=0), field(id=2, name=3), field(id=3, name="c", type="x")]})
    assert len(refused.value.violations) == 3


def test_a_schema_nested_without_end_is_refused() -> None:
    kind: object = "int"
    for level in range(500):
        kind = {"type": "list", "element-id": level + 2, "element": kind, "element-required": False}
    with pytest.raises(IngestInvalid, match="levels deep"):
        schema_from_json({"fields": [field(type=kind)]})


def test_the_json_is_icebergs_own() -> None:
    place = Struct((Field(3, "city", Primitive("string")),))
    columns = (Field(1, "m", MapOf(Field(2, "key", Primitive("string"), True), Field(4, "value", place))),)
    assert schema_to_json(TableSchema(0, columns)) == {
        "type": "struct",
        "schema-id": 0,
        "identifier-field-ids": [],
        "fields": [
            {
                "id": 1,
                "name": "m",
                "required": False,
                "type": {
                    "type": "map",
                    "key-id": 2,
                    "key": "string",
                    "value-id": 4,
                    "value": {
                        "type": "struct",
                        "fields": [{"id": 3, "name": "city", "required": False, "type": "string"}],
                    },
                    "value-required": False,
                },
            }
        ],
    }
    assert Schema(NestedField(1, "a", StringType())) == Schema.model_validate(
        schema_to_json(TableSchema(0, (Field(1, "a", Primitive("string")),)))
    )
