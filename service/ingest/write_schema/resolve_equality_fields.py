"""The fields that tell an upsert's rows apart, or everything that is wrong with those that were named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from service.errors import IngestInvalid, WriteSchemaInvalid
from service.ingest.write_schema.named_columns import named_columns
from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.ingest.ingest import Violation, Write, WriteFault, WriteRule
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import Field, Primitive, fields_with_paths
from service.model.tables.tables import TableName

# Before version 2 there are no deletes.
OLDEST_FORMAT = 2
_NOT_EQUAL_TO_THEMSELVES = frozenset({"float", "double"})


def resolve_equality_fields(
    write: Write, table: WritableTable
) -> tuple[tuple[int, ...], WriteSchemaInvalid | None]:
    """Their ids, in order; none for an append. Without names they are the table's identifier fields.

    With what is wrong with them, every reason at once: it is told together with what is wrong with the write
    schema, which those that are known are needed for.

    Raises:
        IngestInvalid: the table can have no upserts, or this is none.
    """
    if not write.is_upsert:
        if write.equality_fields is not None:
            raise _fault(f"{write.place}/equalityFields", "Only an upsert has equality fields.")
        return (), None
    if reason := _no_upserts(write.key.table, table):
        raise _fault(f"{write.place}/mode", reason)
    ids, found = _named(write, table)
    violations = [replace(each, is_of_equality_fields=True) for each in (*found, *_unfit(ids, table))]
    wrong = None
    if violations:
        wrong = WriteSchemaInvalid(
            f"The equality fields do not fit {write.key.table}: {violations[0].detail}", violations
        )
    return tuple(sorted(ids)), wrong


def _fault(place: str, reason: str) -> IngestInvalid:
    return IngestInvalid(reason, [WriteFault(place, reason)])


def _no_upserts(name: TableName, table: WritableTable) -> str | None:
    """Why none can be made to this table, whatever the equality fields are."""
    if table.format_version < OLDEST_FORMAT:
        return f"{name} has format version {table.format_version}; upserts need version {OLDEST_FORMAT}."
    sources = {each.source for each in table.partition_fields if each.transform != VOID}
    for path, field in fields_with_paths(table.schema.columns) if sources else ():
        if ".".join(path) in sources and (reason := _reason(path, field)):
            # Equality fields have what a table is partitioned by, and this cannot be one.
            source = ".".join(path)
            return f"{name} takes no upserts: it is partitioned by {source}, which {reason}. Append to it."
    return None


def _named(write: Write, table: WritableTable) -> tuple[tuple[int, ...], tuple[Violation, ...]]:
    if write.equality_fields is not None:
        ids, violations = named_columns(write.equality_fields, table.schema.columns)
    else:
        ids, violations = tuple(table.schema.identifier_field_ids), ()
    if ids or violations:
        return ids, violations
    detail = "Name the fields that tell rows apart as equalityFields: the table has no identifier fields."
    return (), (Violation("", WriteRule.NO_EQUALITY_FIELDS, detail),)


def _unfit(ids: tuple[int, ...], table: WritableTable) -> Iterator[Violation]:
    for path, field in fields_with_paths(table.schema.columns):
        if field.field_id in ids and (reason := _reason(path, field)):
            name = ".".join(path)
            yield Violation(name, WriteRule.NOT_AN_EQUALITY_FIELD, f"{name} {reason}.")


def _reason(path: tuple[str, ...], field: Field) -> str | None:
    """Source: the Iceberg table specification, "Identifier Field IDs".

    It allows fields in structs, too. But Iceberg 1.12 finds other rows to be deleted by them than have their
    values, and others again when a query names other columns.
    """
    if len(path) > 1:
        return "lies in a struct, and readers take deletes by such fields for deletes of other rows"
    if not isinstance(field.type, Primitive):
        return "has fields of its own"
    if field.type.name in _NOT_EQUAL_TO_THEMSELVES:
        return f"is a {field.type.name}, and of such numbers nobody can say which are equal"
    return None
