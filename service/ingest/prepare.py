"""From what a caller sent to rows by write target, or every reason why not; nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from service.errors import IngestInvalid, RecordsInvalid, WriteSchemaInvalid
from service.ingest.one_upsert import check_one_upsert
from service.ingest.project_records import ProjectedRecords, project_records
from service.ingest.resolve_equality_fields import resolve_equality_fields
from service.ingest.resolve_write_schema import resolve_write_schema
from service.ingest.written_fields import written_fields
from service.model.ingest import BadRecord, InferredColumns, Violation, Write
from service.model.writing import TableKey, WritableTable, WriteTarget

TOLD_AT_MOST = 100
# PyIceberg commits to no newer one.
NEWEST_FORMAT = 2


@dataclass(frozen=True, slots=True)
class PreparedWrite:
    """Rows that have exactly their target's columns, in its order."""

    table: WritableTable
    target: WriteTarget
    batches: tuple[pa.RecordBatch, ...]


def prepare(writes: Sequence[Write], tables: Mapping[TableKey, WritableTable]) -> tuple[PreparedWrite, ...]:
    """One for each target; writes that have the same one share it.

    Raises:
        IngestInvalid: a table is of a format that cannot be written here.
        WriteSchemaInvalid: a write schema breaks rules; with all of all writes.
        RecordsInvalid: records do not fit; with the first hundred of all writes.
    """
    targets = _targets(writes, tables)
    found: dict[WriteTarget, list[pa.RecordBatch]] = {}
    bad: list[BadRecord] = []
    bad_count = 0
    for write, target in zip(writes, targets, strict=True):
        projected = _projected(write, target, tables[write.key])
        found.setdefault(target, []).extend(projected.batches)
        bad += [BadRecord(f"{write.place}/records/{index}", reason) for index, reason in projected.bad]
        bad_count += projected.bad_count
    if bad:
        count = sum(len(each.records) for each in writes)
        raise RecordsInvalid(f"{bad_count} of {count} records do not fit.", bad[:TOLD_AT_MOST])
    return tuple(
        PreparedWrite(tables[target.key], target, tuple(batches)) for target, batches in found.items()
    )


def _targets(writes: Sequence[Write], tables: Mapping[TableKey, WritableTable]) -> tuple[WriteTarget, ...]:
    targets: list[WriteTarget] = []
    violations: list[Violation] = []
    detail = ""
    for write in writes:
        try:
            targets.append(_target(write, tables[write.key]))
        except WriteSchemaInvalid as error:
            violations += [replace(each, place=write.place) for each in _violations(error)]
            detail = detail or error.detail
    if violations:
        raise WriteSchemaInvalid(detail, violations)
    check_one_upsert(targets)
    return tuple(targets)


def _violations(error: WriteSchemaInvalid) -> list[Violation]:
    return [each for each in error.violations if isinstance(each, Violation)]


def _target(write: Write, table: WritableTable) -> WriteTarget:
    if table.format_version > NEWEST_FORMAT:
        raise IngestInvalid(
            f"{write.key.table} has format version {table.format_version}; "
            f"tables up to version {NEWEST_FORMAT} can be written to."
        )
    is_inferred = isinstance(write.write_schema, InferredColumns)
    present = {name for record in write.records for name in record} if is_inferred else set[str]()
    equality_field_ids = resolve_equality_fields(write, table)
    schema = resolve_write_schema(write.write_schema, table, present, equality_field_ids)
    return WriteTarget(
        write.key,
        table.schema.schema_id,
        table.spec_id,
        is_upsert=write.is_upsert,
        equality_field_ids=equality_field_ids,
        write_schema_column_ids=None if schema is None else schema.column_ids,
        table_uuid=table.table_uuid,
    )


def _projected(write: Write, target: WriteTarget, table: WritableTable) -> ProjectedRecords:
    fields = written_fields(table.schema, target.write_schema_column_ids)
    return project_records(write.records, fields, TOLD_AT_MOST)
