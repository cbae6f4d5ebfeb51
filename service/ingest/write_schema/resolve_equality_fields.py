"""Resolves the fields that identify an upsert's rows, or reports everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from service.errors.ingest_errors import IngestInvalid, WriteSchemaInvalid
from service.ingest.write_schema.named_columns import named_columns
from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.ingest.ingest_request import Violation, Write, WriteFault, WriteRule
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import VARIANT, Field, Primitive, fields_with_paths
from service.model.tables.tables import TableName

# Format version 1 has no deletes.
OLDEST_FORMAT = 2
_NOT_EQUAL_TO_THEMSELVES = frozenset({"float", "double"})


def resolve_equality_fields(
    write: Write, table: WritableTable
) -> tuple[tuple[int, ...], WriteSchemaInvalid | None]:
    """Returns the fields' ids, in order, none for an append; without names, the table's identifier fields.

    Also returns an error with everything that is wrong with the fields. It is reported together with the
    faults of the write schema, whose check needs the known fields.

    Raises:
        IngestInvalid: the table cannot have upserts, or the write is not an upsert.
    """
    if not write.is_upsert:
        if write.equality_fields is not None:
            raise _fault(f"{write.place}/equalityFields", "Only an upsert or a delete has equality fields.")
        return (), None
    if reason := _no_upserts(write.key.table, table):
        raise _fault(f"{write.place}/mode", reason)
    ids, found = _named(write, table)
    violations = [
        replace(violation, is_of_equality_fields=True) for violation in (*found, *_unfit(ids, table))
    ]
    wrong = None
    if violations:
        wrong = WriteSchemaInvalid(
            f"The equality fields do not fit {write.key.table}: {violations[0].detail}", violations
        )
    return tuple(sorted(ids)), wrong


def _fault(place: str, reason: str) -> IngestInvalid:
    return IngestInvalid(reason, [WriteFault(place, reason)])


def _no_upserts(name: TableName, table: WritableTable) -> str | None:
    """Returns why the table cannot have upserts, whatever the equality fields are."""
    if table.format_version < OLDEST_FORMAT:
        return f"{name} has format version {table.format_version}; upserts need version {OLDEST_FORMAT}."
    sources = {field.source for field in table.partition_fields if field.transform != VOID}
    for path, field in fields_with_paths(table.schema.columns) if sources else ():
        if ".".join(path) in sources and (reason := _reason(path, field)):
            # Equality fields must include the columns of the partition, and this one cannot be an equality
            # field.
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
    detail = "Name the fields that identify a row as equalityFields: the table has no identifier fields."
    return (), (Violation("", WriteRule.NO_EQUALITY_FIELDS, detail),)


def _unfit(ids: tuple[int, ...], table: WritableTable) -> Iterator[Violation]:
    for path, field in fields_with_paths(table.schema.columns):
        if field.field_id in ids and (reason := _reason(path, field)):
            name = ".".join(path)
            yield Violation(name, WriteRule.NOT_AN_EQUALITY_FIELD, f"{name} {reason}.")


def _reason(path: tuple[str, ...], field: Field) -> str | None:
    """Returns why the field cannot be an equality field.

    The specification also allows fields in structs. But Iceberg 1.12 applies deletes by such fields to other
    rows than those with their values, and to others again when a query names other columns.

    Source: the Iceberg table specification, "Identifier Field IDs".
    """
    if len(path) > 1:
        return "is inside a struct, and readers would delete other rows by such a field"
    if not isinstance(field.type, Primitive):
        return "has fields of its own"
    if field.type.name in _NOT_EQUAL_TO_THEMSELVES:
        return f"is a {field.type.name}, and such numbers cannot be compared for equality"
    if field.type.name == VARIANT:
        return "is a variant, and variants cannot be compared"
    return None
