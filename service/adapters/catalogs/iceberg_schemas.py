"""Converts between PyIceberg's schemas and the gateway's own."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from pyiceberg.conversions import to_json
from pyiceberg.schema import Schema
from pyiceberg.types import (
    IcebergType,
    ListType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
)

from service.adapters.catalogs.variant_type import VariantType
from service.model.tables.schemas import (
    VARIANT,
    Field,
    FieldType,
    ListOf,
    MapOf,
    Primitive,
    Struct,
    TableSchema,
)


def table_schema(schema: Schema) -> TableSchema:
    """Converts PyIceberg's schema to the gateway's."""
    return TableSchema(
        schema.schema_id,
        tuple(_field(field) for field in schema.fields),
        frozenset(schema.identifier_field_ids),
    )


def pyiceberg_schema(schema: TableSchema) -> Schema:
    """Converts the gateway's schema to PyIceberg's. A default keeps its JSON value."""
    return Schema(
        *(_nested_field(column) for column in schema.columns),
        schema_id=schema.schema_id,
        identifier_field_ids=sorted(schema.identifier_field_ids),
    )


def _field(field: NestedField) -> Field:
    return Field(
        field.field_id,
        field.name,
        _type(field.field_type),
        field.required,
        _default(field.field_type, field.initial_default),
        _default(field.field_type, field.write_default),
        field.doc,
    )


def _type(kind: IcebergType) -> FieldType:
    match kind:
        case StructType():
            return Struct(tuple(_field(field) for field in kind.fields))
        case ListType():
            return ListOf(_field(kind.element_field))
        case MapType():
            return MapOf(_field(kind.key_field), _field(kind.value_field))
        case _:
            return Primitive(str(kind))


def _default(kind: IcebergType, value: Any) -> object:
    # A default read from JSON keeps its JSON value; only one set in Python has a type of its own.
    if isinstance(value, date | datetime | time | Decimal | UUID | bytes) and isinstance(kind, PrimitiveType):
        return to_json(kind, value)
    return value


def _nested_field(field: Field) -> NestedField:
    initial, write = cast(Any, field.initial_default), cast(Any, field.write_default)
    return NestedField(
        field.field_id,
        field.name,
        pyiceberg_type(field.type),
        field.is_required,
        field.doc,
        initial,
        write,
    )


def pyiceberg_type(kind: FieldType) -> IcebergType:
    """Converts one type, with everything inside it."""
    match kind:
        case Primitive(name):
            return VariantType() if name == VARIANT else IcebergType.model_validate(name)
        case Struct(fields):
            return StructType(*(_nested_field(field) for field in fields))
        case ListOf(element):
            return ListType(element.field_id, pyiceberg_type(element.type), element.is_required)
        case MapOf(key, value):
            return MapType(
                key.field_id,
                pyiceberg_type(key.type),
                value.field_id,
                pyiceberg_type(value.type),
                value.is_required,
            )
