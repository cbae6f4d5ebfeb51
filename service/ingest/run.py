"""One ingest: validated, written to files, accepted for good. Its commit follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from uuid import uuid4

from service.errors import GatewayError, RequestIdReused, WriteNotAllowed
from service.ingest.prepare import PreparedWrite, prepare
from service.ingest_ports import DataFiles, IngestLog, WritableTables
from service.model.ingest import IngestCommit, IngestRecord, IngestRequest, WrittenTarget
from service.model.writing import TableKey, WriteResult
from service.ports import Clock


@dataclass(frozen=True, slots=True)
class IngestPorts:
    """What an ingest is run with."""

    tables: WritableTables
    data_files: DataFiles
    log: IngestLog
    clock: Clock
    writable_names: tuple[str, ...] = ("*",)
    """Full names of the tables that may be written to, with `*` for any part."""


def run_ingest(request: IngestRequest, caller: str, ports: IngestPorts) -> IngestRecord:
    """Accepts the ingest: its files are written and will be committed, whatever happens from now on.

    A `requestId` that this caller has sent before gives the ingest of then.

    Raises:
        RequestIdReused: the requestId is known, with another body.
        WriteNotAllowed, TableNotFound, WriteSchemaInvalid, RecordsInvalid: nothing was written.
        CatalogDown, StorageDown: nothing was accepted.
        MetricsStoreDown: it may or may not be accepted; the same requestId tells.
    """
    before = _sent_before(request, caller, ports)
    if before is not None:
        return before
    keys = dict.fromkeys(each.key for each in request.writes)
    _check_allowed(keys, ports.writable_names)
    tables = {key: ports.tables.writable(key.table, key.branch) for key in keys}
    prepared = prepare(request.writes, tables)
    results = _written(prepared, ports.data_files)
    record = IngestRecord(
        uuid4(),
        caller,
        request.request_id,
        request.fingerprint,
        ports.clock.now(),
        tuple(_commit(key, results) for key in keys),
    )
    accepted = ports.log.accept(record, results)
    if accepted.ingest_id != record.ingest_id:
        # The same request, sent twice at once: the other one won.
        _discard(prepared, results, ports.data_files)
        return _same(accepted, request)
    return accepted


def _check_allowed(keys: Iterable[TableKey], names: Sequence[str]) -> None:
    for key in keys:
        if not any(fnmatchcase(str(key.table), each) for each in names):
            raise WriteNotAllowed(f"Callers may not write to {key.table} here.")


def _sent_before(request: IngestRequest, caller: str, ports: IngestPorts) -> IngestRecord | None:
    if request.request_id is None:
        return None
    found = ports.log.find_request(caller, request.request_id)
    return None if found is None else _same(found, request)


def _same(record: IngestRecord, request: IngestRequest) -> IngestRecord:
    if record.fingerprint != request.fingerprint:
        raise RequestIdReused
    return record


def _written(prepared: Sequence[PreparedWrite], data_files: DataFiles) -> list[WriteResult]:
    results: list[WriteResult] = []
    try:
        for each in prepared:
            results.append(data_files.write(each.table, each.target, each.batches))
    except GatewayError:
        _discard(prepared, results, data_files)
        raise
    return results


def _discard(
    prepared: Sequence[PreparedWrite], results: Sequence[WriteResult], data_files: DataFiles
) -> None:
    for each, result in zip(prepared, results, strict=False):
        # What stays is an orphan that belongs to no table, and maintenance removes it.
        with suppress(GatewayError):
            data_files.discard(each.table, result)


def _commit(key: TableKey, results: Sequence[WriteResult]) -> IngestCommit:
    return IngestCommit(
        key,
        tuple(
            WrittenTarget(
                key,
                each.target.write_schema_column_ids,
                len(each.data_files),
                each.record_count,
                each.byte_count,
                each.target.equality_field_ids,
            )
            for each in results
            if each.target.key == key
        ),
    )
