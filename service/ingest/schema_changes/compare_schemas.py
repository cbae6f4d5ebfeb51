"""Compares a sent schema with a table's, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

from service.ingest.schema_changes.wider_types import is_wider
from service.model.tables.schema_changes import (
    AddField,
    DifferenceKind,
    MakeOptional,
    Path,
    SchemaChange,
    SchemaComparison,
    SchemaDifference,
    SchemaMatch,
    WidenField,
)
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct, with_children


class _Conversion(Enum):
    NEEDED = 0


# Sent dates become their first moments.
_AS_MIDNIGHTS = ("date", "timestamp")

_Finding = SchemaChange | SchemaDifference | _Conversion


def compare_schemas(given: tuple[Field, ...], table: tuple[Field, ...]) -> SchemaComparison:
    """Returns the changes that the table needs so that rows of the given columns can be written to it.

    Fields are matched by names, not by ids. Nothing is dropped, renamed or moved: a required field that is
    not among the given ones becomes optional, an optional one stays, and a new one is optional, at the end of
    its struct.

    Source: `CompareSchemasVisitor` and `EvolveSchemaVisitor` of Iceberg's dynamic sink.

    >>> known = (Field(1, "id", Primitive("int")),)
    >>> compare_schemas((Field(7, "id", Primitive("long")),), known).changes
    (WidenField(path=('id',), before='int', after='long'),)
    """
    found = tuple(_in_struct(given, table, ()))
    changes = tuple(change for change in found if isinstance(change, SchemaChange))
    differences = tuple(difference for difference in found if isinstance(difference, SchemaDifference))
    if changes or differences:
        return SchemaComparison(SchemaMatch.SCHEMA_UPDATE_NEEDED, changes, differences)
    return SchemaComparison(SchemaMatch.DATA_CONVERSION_NEEDED if found else SchemaMatch.SAME)


def _in_struct(given: tuple[Field, ...], own: tuple[Field, ...], path: Path) -> Iterator[_Finding]:
    known = {field.name: field for field in own}
    for field in given:
        partner = known.get(field.name)
        if partner is None:
            yield AddField(path, replace(_without_ids(field), is_required=False))
        else:
            yield from _in_field(field, partner, (*path, field.name))
    names = [field.name for field in given]
    sent = set(names)
    for field in own:
        if field.is_required and field.name not in sent:
            yield MakeOptional((*path, field.name))
    if names != [field.name for field in own]:
        yield _Conversion.NEEDED


def _without_ids(field: Field) -> Field:
    return replace(field, field_id=0, type=with_children(field.type, map(_without_ids, field.children)))


def _in_field(given: Field, own: Field, path: Path) -> Iterator[_Finding]:
    if own.is_required and not given.is_required:
        yield MakeOptional(path)
    for mine, theirs in (
        (given.initial_default, own.initial_default),
        (given.write_default, own.write_default),
    ):
        if mine is not None and mine != theirs:
            name = ".".join(path)
            detail = f"The table has another default for {name}, and an ingest does not change defaults."
            yield SchemaDifference(name, DifferenceKind.DEFAULT_DIFFERS, detail)
            break
    yield from _in_type(given.type, own.type, path)


def _in_type(given: FieldType, own: FieldType, path: Path) -> Iterator[_Finding]:
    match (given, own):
        case (Primitive(name), Primitive(known)):
            yield from _in_primitive(name, known, path)
        case (Struct(fields), Struct(known_fields)):
            yield from _in_struct(fields, known_fields, path)
        case (ListOf(element), ListOf(known_element)):
            yield from _in_field(element, known_element, (*path, "element"))
        case (MapOf(key, value), MapOf(known_key, known_value)):
            yield from _in_key(key, known_key, (*path, "key"))
            yield from _in_field(value, known_value, (*path, "value"))
        case _:
            yield _type_differs(_kind(given), _kind(own), path)


def _in_primitive(given: str, own: str, path: Path) -> Iterator[_Finding]:
    if given == own:
        return
    if is_wider(own, than=given) or (given, own) == _AS_MIDNIGHTS:
        yield _Conversion.NEEDED
    elif is_wider(given, than=own):
        yield WidenField(path, own, given)
    else:
        yield _type_differs(given, own, path)


def _in_key(given: Field, own: Field, path: Path) -> Iterator[_Finding]:
    for finding in _in_type(given.type, own.type, path):
        if isinstance(finding, SchemaChange):
            # Iceberg never changes the keys of a map.
            name = ".".join(finding.path)
            detail = f"The table has other keys of {'.'.join(path[:-1])}, and keys of maps cannot change."
            yield SchemaDifference(name, DifferenceKind.MAP_KEY_DIFFERS, detail)
        else:
            yield finding


def _type_differs(given: str, own: str, path: Path) -> SchemaDifference:
    name = ".".join(path)
    detail = f"{name} is {own} in the table, which cannot become {given}."
    return SchemaDifference(name, DifferenceKind.TYPE_DIFFERS, detail)


def _kind(type_: FieldType) -> str:
    match type_:
        case Primitive(name):
            return name
        case Struct():
            return "a struct"
        case ListOf():
            return "a list"
        case MapOf():
            return "a map"
