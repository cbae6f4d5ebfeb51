"""Finds requested changes that a table cannot adopt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from service.model.tables.filed_names import filed_name
from service.model.tables.schema_changes import (
    AddField,
    DifferenceKind,
    MakeOptional,
    Path,
    SchemaChange,
    SchemaDifference,
    WidenField,
)
from service.model.tables.schemas import VARIANT, Field, Primitive, Struct, TableSchema, fields_with_paths

# The Iceberg table specification, "Format Versioning".
_FROM_FORMAT_3 = frozenset({"timestamp_ns", "timestamptz_ns", "unknown", VARIANT})
# Spark has no such type, and cannot even read the other columns of a table that has one.
_UNKNOWN_TO_SPARK = "time"
# Iceberg's `MetadataColumns`. Spark cannot read a table that has a column with such a name.
_RESERVED = frozenset(
    {
        "_file",
        "_pos",
        "_deleted",
        "_spec_id",
        "_partition",
        "_row_id",
        "_last_updated_sequence_number",
        "_change_type",
        "_change_ordinal",
        "_commit_snapshot_id",
    }
)


def refused_changes(
    changes: Iterable[SchemaChange], schema: TableSchema, partition_names: Collection[str]
) -> Iterator[SchemaDifference]:
    """Yields each reason why a table of format version 2 with this schema cannot be changed.

    Names that differ only in case count as the same, because engines such as Spark cannot distinguish them. A
    new column must not have the name of a partition field, or the table could no longer be read. It must not
    have the same name in data files as another column either.
    """
    paths = list(fields_with_paths(schema.columns))
    taken = {".".join(path).lower() for path, _ in paths} | {name.lower() for name in partition_names}
    filed = {_filed(path) for path, _ in paths}
    needed = {
        path[:depth]
        for path, field in paths
        if field.field_id in schema.identifier_field_ids
        for depth in range(1, len(path) + 1)
    }
    for change in changes:
        match change:
            case AddField():
                yield from _of_reserved_name(change)
                yield from _in_new_field(change, taken, filed)
            case MakeOptional(path):
                if path in needed:
                    name = ".".join(path)
                    detail = f"{name} identifies the table's rows, and stays required: add it to the schema."
                    yield SchemaDifference(name, DifferenceKind.IDENTIFIER_FIELD, detail)
            case WidenField():
                pass


def _of_reserved_name(change: AddField) -> Iterator[SchemaDifference]:
    name = change.field.name
    if not change.parent and name.lower() in _RESERVED:
        detail = (
            f"{name} is a name that Iceberg reserves: the table would become unreadable. Choose another name."
        )
        yield SchemaDifference(name, DifferenceKind.NAME_TAKEN, detail)


def _in_new_field(change: AddField, taken: set[str], filed: set[str]) -> Iterator[SchemaDifference]:
    for path, field in fields_with_paths((change.field,)):
        whole = (*change.parent, *path)
        name, in_files = ".".join(whole), _filed(whole)
        if name.lower() in taken:
            detail = (
                f"{name} is too similar to a name that the table has already: readers could confuse them."
            )
            yield SchemaDifference(name, DifferenceKind.NAME_TAKEN, detail)
        elif in_files in filed:
            detail = (
                f"{name} is called {filed_name(whole[-1])} in data files, as another field of the table is."
            )
            yield SchemaDifference(name, DifferenceKind.NAME_TAKEN, detail)
        taken.add(name.lower())
        filed.add(in_files)
        yield from _of_format_3(name, field)
        if field.type == Primitive(_UNKNOWN_TO_SPARK):
            detail = (
                f"{name} has the type time, and Spark cannot read a table with such a column: use string."
            )
            yield SchemaDifference(name, DifferenceKind.NOT_READABLE, detail)
        if field.type == Struct(()):
            detail = f"{name} is a struct without fields, which no data file can hold."
            yield SchemaDifference(name, DifferenceKind.NOT_WRITABLE, detail)


def _filed(path: Path) -> str:
    return ".".join(map(filed_name, path)).lower()


def _of_format_3(name: str, field: Field) -> Iterator[SchemaDifference]:
    if field.initial_default is not None or field.write_default is not None:
        detail = f"{name} has a default, which takes a table of format version 3."
        yield SchemaDifference(name, DifferenceKind.FORMAT_TOO_OLD, detail)
    if isinstance(field.type, Primitive) and field.type.name in _FROM_FORMAT_3:
        detail = f"{name} is {field.type.name}, which takes a table of format version 3."
        yield SchemaDifference(name, DifferenceKind.FORMAT_TOO_OLD, detail)
