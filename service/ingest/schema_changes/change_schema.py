"""Applies changes to a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

from service.model.tables.schema_changes import AddField, MakeOptional, Path, SchemaChange, WidenField
from service.model.tables.schemas import Field, Primitive, Struct, with_children

_Fields = tuple[Field, ...]


def change_schema(columns: _Fields, changes: Iterable[SchemaChange]) -> _Fields:
    """Returns the columns after the changes, applied in order; new fields have the id 0.

    >>> change_schema((Field(1, "id", Primitive("int"), True),), [MakeOptional(("id",))])[0].is_required
    False
    """
    return reduce(_changed, changes, columns)


def _changed(columns: _Fields, change: SchemaChange) -> _Fields:
    match change:
        case AddField(parent, field):
            return _with_fields(columns, parent, lambda fields: (*fields, field))
        case WidenField(path, _, after):
            return _with_field(columns, path, lambda field: replace(field, type=Primitive(after)))
        case MakeOptional(path):
            return _with_field(columns, path, lambda field: replace(field, is_required=False))


def _with_fields(columns: _Fields, parent: Path, change: Callable[[_Fields], _Fields]) -> _Fields:
    if not parent:
        return change(columns)

    def changed(field: Field) -> Field:
        return replace(field, type=Struct(change(field.children)))

    return _with_field(columns, parent, changed)


def _with_field(fields: _Fields, path: Path, change: Callable[[Field], Field]) -> _Fields:
    name, rest = path[0], path[1:]
    return tuple(
        field if field.name != name else _inside(field, rest, change) if rest else change(field)
        for field in fields
    )


def _inside(field: Field, path: Path, change: Callable[[Field], Field]) -> Field:
    return replace(field, type=with_children(field.type, _with_field(field.children, path, change)))
