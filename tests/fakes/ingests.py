"""Ingests to accept, and their write results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

from service.model.ingest.ingest import IngestCommit, IngestRecord, WrittenTarget
from service.model.ingest.writing import TableKey, WriteResult, WriteTarget
from service.model.tables.tables import TableName

ACCEPTED_AT = datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)
LOGS = TableKey(TableName("lake", "game", "logs"))
ORDERS = TableKey(TableName("lake", "shop", "orders"), "audit")


def write_result(
    key: TableKey = LOGS,
    files: int = 1,
    *,
    schema_id: int = 3,
    spec_id: int = 0,
    column_ids: tuple[int, ...] | None = (2, 1),
    is_upsert: bool = False,
) -> WriteResult:
    """Returns a result of new files with ten records each."""
    target = WriteTarget(key, schema_id, spec_id, is_upsert, (1,) if is_upsert else (), column_ids)
    names = tuple(f'{{"file-path":"file:/{uuid4().hex}.parquet"}}' for _ in range(files))
    return WriteResult(target, names, (), 10 * files, 1_000 * files)


def ingest_of(
    results: Sequence[WriteResult], *, request_id: UUID | None = None, caller: str = "ann"
) -> IngestRecord:
    """Returns the record of a new ingest with these results."""
    keys = dict.fromkeys(result.target.key for result in results)
    commits = tuple(
        IngestCommit(key, tuple(_written(result) for result in results if result.target.key == key))
        for key in keys
    )
    return IngestRecord(uuid4(), caller, request_id, "f00d", ACCEPTED_AT, commits)


def _written(result: WriteResult) -> WrittenTarget:
    target = result.target
    return WrittenTarget(
        target.key,
        target.write_schema_column_ids,
        len(result.data_files),
        result.record_count,
        result.byte_count,
    )
