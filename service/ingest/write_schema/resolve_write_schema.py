"""Resolves the columns that an ingest writes, or reports everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Set

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.check_write_schema import check_write_schema
from service.ingest.write_schema.given_columns import given_columns
from service.ingest.write_schema.inferred_columns import inferred_columns
from service.ingest.write_schema.named_columns import named_columns, unknown_columns
from service.ingest.write_schema.projection import Projection
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    RequestedWriteSchema,
    Violation,
    WriteRule,
)
from service.model.ingest.writing import WritableTable, WriteSchema
from service.model.tables.tables import SortField


def resolve_write_schema(
    requested: RequestedWriteSchema,
    table: WritableTable,
    present: Set[str] = frozenset(),
    equality_field_ids: tuple[int, ...] = (),
    sort_fields: tuple[SortField, ...] = (),
) -> WriteSchema | None:
    """Returns the write schema; None where the whole table schema is written.

    `present` are the columns that the records have, for a schema that is inferred from them. `sort_fields`
    are those of a requested sort order.

    Raises:
        WriteSchemaInvalid: with every reason at once.
    """
    ids, violations = _columns(requested, table, present, equality_field_ids, sort_fields)
    projection = Projection(table, ids, equality_field_ids, sort_fields)
    violations = (*violations, *check_write_schema(projection))
    if not ids and not violations:
        violations = (Violation("", WriteRule.NOTHING_WRITTEN, "The write schema has no columns."),)
    if violations:
        raise WriteSchemaInvalid(
            f"The write schema breaks {len(violations)} rule(s) of {table.key.table}: {violations[0].detail}",
            violations,
        )
    return None if requested is None else WriteSchema(table.schema.schema_id, ids)


def _columns(
    requested: RequestedWriteSchema,
    table: WritableTable,
    present: Set[str],
    equality_field_ids: tuple[int, ...],
    sort_fields: tuple[SortField, ...],
) -> tuple[tuple[int, ...], tuple[Violation, ...]]:
    match requested:
        case None:
            return tuple(column.field_id for column in table.schema.columns), ()
        case ColumnNames(names):
            return named_columns(names, table.schema.columns)
        case ColumnFields(columns):
            return given_columns(columns, table.schema.columns)
        case InferredColumns():
            ids = inferred_columns(present, table, equality_field_ids, sort_fields)
            return ids, (() if ids else _nothing_inferred(present, table))


def _nothing_inferred(present: Set[str], table: WritableTable) -> tuple[Violation, ...]:
    if present:
        return unknown_columns(sorted(present), table.schema.columns)
    # Reported first, because the columns that such a schema skips follow from it.
    return (Violation("", WriteRule.NOTHING_WRITTEN, "No record has a field to infer a column from."),)
