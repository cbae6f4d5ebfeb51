"""Checks the column that takes the rest of records: the fields that no column of theirs has."""

from __future__ import annotations

from collections.abc import Iterator

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.ingest.ingest_request import Violation, Write, WriteRule
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import VARIANT, Field, Primitive, path_of

REST_TYPES = ("string", VARIANT)


def rest_fault(
    write: Write,
    table: WritableTable,
    equality_field_ids: tuple[int, ...],
    written: tuple[int, ...] | None,
) -> WriteSchemaInvalid | None:
    """Returns what is wrong with the column; None where nothing is, and for writes without one.

    `written` are the columns of the write schema; None: all of the table's.
    """
    if write.rest is None:
        return None
    field = next((field for field in table.schema.columns if field.name == write.rest), None)
    found = list(_violations(write, write.rest, field, table, equality_field_ids, written))
    if not found:
        return None
    return WriteSchemaInvalid(
        f"The rest of the records does not fit {write.key.table}: {found[0].detail}", found
    )


def _violations(
    write: Write,
    name: str,
    field: Field | None,
    table: WritableTable,
    equality_field_ids: tuple[int, ...],
    written: tuple[int, ...] | None,
) -> Iterator[Violation]:
    if field is None:
        detail = f"{name} is not a column of the table. The rest is a column, and not inside a struct."
        yield Violation(name, WriteRule.UNKNOWN_COLUMN, detail, is_of_rest=True)
        return
    for detail in _other_uses(write, field, table, equality_field_ids):
        yield Violation(name, WriteRule.NOT_A_REST_COLUMN, detail, is_of_rest=True)
    if written is not None and field.field_id not in written:
        detail = f"{name} takes the rest of the records: add it to the write schema."
        yield Violation(name, WriteRule.REST_COLUMN_SKIPPED, detail, is_of_rest=True)


def _other_uses(
    write: Write, field: Field, table: WritableTable, equality_field_ids: tuple[int, ...]
) -> Iterator[str]:
    name = field.name
    if not isinstance(field.type, Primitive) or field.type.name not in REST_TYPES:
        yield f"{name} has no type that holds the rest of records, which is {' or '.join(REST_TYPES)}."
    if field.field_id in equality_field_ids:
        yield f"{name} identifies the row, and cannot be the rest of its record: name another column."
    if write.order_by == name:
        yield f"{name} orders the records, and cannot be the rest of a record: name another column."
    sources = (part.source for part in table.partition_fields if part.transform != VOID)
    if any(path_of(table.schema.columns, source)[:1] == (name,) for source in sources):
        yield f"The table is partitioned by {name}, which cannot be the rest of a record: name another one."
