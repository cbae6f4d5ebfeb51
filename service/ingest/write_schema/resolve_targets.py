"""Resolves each write of a request to its target, or reports every reason why not; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from service.errors.ingest_errors import IngestInvalid, WriteSchemaInvalid
from service.ingest.one_refusal import OneRefusal, refused_at
from service.ingest.schema_changes.sort_orders import check_sort_order, sort_order_id
from service.ingest.write_schema.cached_write_schemas import cached_write_schema
from service.ingest.write_schema.deleted_keys import deleted_keys
from service.ingest.write_schema.one_upsert import check_one_upsert
from service.ingest.write_schema.resolve_equality_fields import resolve_equality_fields
from service.ingest.write_schema.resolve_order import resolve_order
from service.ingest.write_schema.resolve_rest import rest_fault
from service.model.ingest.ingest_request import Violation, Write
from service.model.ingest.writing import (
    NEWEST_FORMAT,
    Destination,
    TableKey,
    WritableTable,
    WriteSchema,
    WriteTarget,
)


def resolve_targets(
    writes: Sequence[Write],
    tables: Mapping[TableKey, WritableTable],
    present: Sequence[Set[str]],
    *,
    are_routed: bool = False,
) -> tuple[Destination, ...]:
    """Returns a destination for each write to these tables.

    `present` are the columns of the records of each write, where they are needed. `are_routed`: the writes
    share their records, each of which goes to one write.

    Raises:
        IngestInvalid: a table cannot be written to in this way; with every fault of all writes.
        WriteSchemaInvalid: write schemas break rules, and nothing else is wrong; with every violation of all
            writes.
    """
    found: list[Destination] = []
    refusal = OneRefusal()
    for write, columns in zip(writes, present, strict=True):
        table = tables.get(write.key)
        if table is not None:
            with refusal.gathering():
                check_sort_order(write, table)
            with refusal.gathering(), refused_at(write.place):
                found.append(Destination(table, _placed_target(write, table, columns)))
    if are_routed:
        with refusal.gathering():
            check_one_upsert(destination.target for destination in found)
    refusal.check()
    return tuple(found)


def _placed_target(write: Write, table: WritableTable, present: Set[str]) -> WriteTarget:
    try:
        return resolve_target(write, table, present)
    except WriteSchemaInvalid as error:
        own = [replace(violation, place=write.place) for violation in _violations(error)]
        raise WriteSchemaInvalid(error.detail, own) from None


def resolve_target(write: Write, table: WritableTable, present: Set[str] = frozenset()) -> WriteTarget:
    """Returns the target of one write.

    Raises:
        IngestInvalid: the table's format version cannot be written here.
        WriteSchemaInvalid: the write schema breaks rules, or the equality fields, the order or the column of
            the rest do; with every reason.
    """
    if table.format_version > NEWEST_FORMAT:
        raise IngestInvalid(
            f"{write.key.table} has format version {table.format_version}; "
            f"tables up to version {NEWEST_FORMAT} can be written to."
        )
    faults: list[WriteSchemaInvalid] = []
    schema: WriteSchema | None = None
    equality_field_ids, wrong = resolve_equality_fields(write, table)
    if wrong is not None:
        faults.append(wrong)
    try:
        schema = _write_schema(write, table, present, equality_field_ids)
    except WriteSchemaInvalid as error:
        faults.append(error)
    written = None if schema is None else schema.column_ids
    order_field_id, unordered = resolve_order(write, table, equality_field_ids, written)
    if unordered is not None:
        faults.append(unordered)
    without_rest = rest_fault(write, table, equality_field_ids, written)
    if without_rest is not None:
        faults.append(without_rest)
    if faults:
        raise WriteSchemaInvalid(
            faults[0].detail, [violation for fault in faults for violation in _violations(fault)]
        )
    return WriteTarget(
        write.key,
        table.schema.schema_id,
        table.spec_id,
        is_upsert=write.is_upsert,
        equality_field_ids=equality_field_ids,
        write_schema_column_ids=None if schema is None else schema.column_ids,
        table_uuid=table.table_uuid,
        sort_order_id=None
        if write.sort_order is None
        else sort_order_id(write.sort_order, table.sort_orders),
        order_field_id=order_field_id,
    )


def _write_schema(
    write: Write, table: WritableTable, present: Set[str], equality_field_ids: tuple[int, ...]
) -> WriteSchema | None:
    if write.is_delete:
        return deleted_keys(table, equality_field_ids)
    if write.is_inferred and write.rest is not None:
        present = present | {write.rest}
    return cached_write_schema(write.write_schema, table, present, equality_field_ids, write.sort_order or ())


def _violations(error: WriteSchemaInvalid) -> list[Violation]:
    return [violation for violation in error.violations if isinstance(violation, Violation)]
