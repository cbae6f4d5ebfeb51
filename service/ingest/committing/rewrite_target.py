"""Finds the target for rewriting earlier files so that they fit their table as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from service.errors.ingest_errors import SEND_ALONE_AGAIN
from service.errors.table_errors import TableChanged
from service.ingest.schema_changes.wider_types import is_wider
from service.ingest.write_schema.check_write_schema import check_write_schema
from service.ingest.write_schema.projection import Projection
from service.ingest.write_schema.rules.equality_fields import equality_fields
from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.ingest.writing import NEWEST_FORMAT, WritableTable, WriteTarget
from service.model.tables.schemas import Field, Primitive, fields_with_paths


def is_current(table: WritableTable, target: WriteTarget) -> bool:
    """Returns whether files of the target fit the table as it is."""
    is_same_table = target.table_uuid in (None, table.table_uuid)
    return is_same_table and (target.schema_id, target.spec_id) == (table.schema.schema_id, table.spec_id)


def rewrite_target(table: WritableTable, target: WriteTarget, written: tuple[Field, ...]) -> WriteTarget:
    """Returns the target of the same rows now; `written` are the fields that the files themselves have.

    Columns keep their order. A column that the table has become partitioned by since is written too, as the
    NULL that it reads back as.

    Raises:
        TableChanged: there is no such target; the detail says why.
    """
    reason = next(_reasons(table, target, written), None)
    if reason is not None:
        raise changed(table, reason)
    return replace(
        target,
        schema_id=table.schema.schema_id,
        spec_id=table.spec_id,
        write_schema_column_ids=_column_ids(table, target, written),
    )


def rewrite_delete_target(
    table: WritableTable, target: WriteTarget, written: tuple[Field, ...]
) -> WriteTarget:
    """Returns the target of the same keys now, without rows; `written` are the fields of the delete files.

    Raises:
        TableChanged: there is no such target; the detail says why.
    """
    reason = next(_reasons_of_deletes(table, target, written), None)
    if reason is not None:
        raise changed(table, reason)
    return replace(
        target,
        schema_id=table.schema.schema_id,
        spec_id=table.spec_id,
        write_schema_column_ids=_delete_columns(target),
        sort_order_id=None,
    )


def _delete_columns(target: WriteTarget) -> tuple[int, ...]:
    ids = target.equality_field_ids
    return ids if target.order_field_id is None else (*ids, target.order_field_id)


def changed(table: WritableTable, reason: str) -> TableChanged:
    """Returns the error with this reason."""
    return TableChanged(f"{table.key.table} was changed: {reason} {SEND_ALONE_AGAIN}")


def _reasons_of_any(table: WritableTable, target: WriteTarget, written: tuple[Field, ...]) -> Iterator[str]:
    if target.table_uuid not in (None, table.table_uuid):
        yield "it is another table of the same name."
    if table.format_version > NEWEST_FORMAT:
        yield f"it has format version {table.format_version} now."
    current = {
        field.field_id: (".".join(path), field) for path, field in fields_with_paths(table.schema.columns)
    }
    yield from _changed_fields(current, written)


def _reasons_of_deletes(
    table: WritableTable, target: WriteTarget, written: tuple[Field, ...]
) -> Iterator[str]:
    yield from _reasons_of_any(table, target, written)
    ids = target.equality_field_ids
    yield from (violation.detail for violation in equality_fields(Projection(table, ids, ids)))


def _reasons(table: WritableTable, target: WriteTarget, written: tuple[Field, ...]) -> Iterator[str]:
    yield from _reasons_of_any(table, target, written)
    column_ids = _column_ids(table, target, written)
    if column_ids is None:
        column_ids = tuple(column.field_id for column in table.schema.columns)
    projection = Projection(table, column_ids, target.equality_field_ids)
    yield from (violation.detail for violation in check_write_schema(projection))


def _changed_fields(current: Mapping[int, tuple[str, Field]], written: tuple[Field, ...]) -> Iterator[str]:
    for path, before in fields_with_paths(written):
        if before.field_id not in current:
            yield f"column {'.'.join(path)} is gone."
            continue
        name, now = current[before.field_id]
        if not _is_readable_as(before, now):
            yield f"column {name} has another type now."
        # The writer checks for missing values only at the top level, not in nested fields.
        if now.is_required and not before.is_required and len(path) > 1:
            yield f"column {name} is required now."
        known = {child.field_id for child in before.children}
        for child in now.children:
            if child.is_required and child.field_id not in known:
                yield f"column {name}.{child.name} is required now."


def _is_readable_as(before: Field, now: Field) -> bool:
    if isinstance(before.type, Primitive) and isinstance(now.type, Primitive):
        return before.type == now.type or is_wider(now.type.name, before.type.name)
    return type(before.type) is type(now.type)


def _column_ids(
    table: WritableTable, target: WriteTarget, written: tuple[Field, ...]
) -> tuple[int, ...] | None:
    known = target.write_schema_column_ids or tuple(field.field_id for field in written)
    ids = known + _new_sources(table, frozenset(field.field_id for field in written))
    is_whole = target.write_schema_column_ids is None
    return None if is_whole and set(ids) == {column.field_id for column in table.schema.columns} else ids


def _new_sources(table: WritableTable, written: frozenset[int]) -> tuple[int, ...]:
    sources = {field.source for field in table.partition_fields if field.transform != VOID}
    return tuple(
        column.field_id
        for column in table.schema.columns
        if column.name in sources
        and column.field_id not in written
        and not column.is_required
        and column.initial_default is None
    )
