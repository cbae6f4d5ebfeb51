"""Runs one ingest: validates it, writes its files, and accepts it for good; its commit follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from uuid import UUID, uuid4

from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import IngestInvalid, WriteNotAllowed
from service.idempotency import same_request, sent_before
from service.ingest.audited_ingest import note_destinations
from service.ingest.check_changes import check_changes
from service.ingest.dead_letters.accepted_rows import AcceptedRows
from service.ingest.dead_letters.dead_letters import DeadLetters
from service.ingest.dead_letters.separate_dead_letters import check_separate_dead_letters
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS, ReadBounds
from service.ingest.distributed.is_executed import is_executed
from service.ingest.distributed.large_parts import LargeInputs
from service.ingest.distributed.sources_until import SourcesUntil
from service.ingest.distributed.write_executed import ExecutedWrite, WritePorts
from service.ingest.joined_routes import joined_routes
from service.ingest.no_ingest_metrics import NoIngestMetrics
from service.ingest.present_columns import PresentColumns
from service.ingest.read_target import read_target
from service.ingest.request_rows import request_rows
from service.ingest.required_advice import required_advice
from service.ingest.schema_changes.change_rules import NOTHING_FORBIDDEN, ChangeRules
from service.ingest.schema_changes.evolutions import reporting
from service.ingest.schema_changes.match_tables import match_tables
from service.ingest.write_rights import check_write_rights
from service.ingest.write_schema.cached_write_schemas import cached_written_fields
from service.ingest.write_schema.resolve_targets import resolve_targets
from service.model.ingest.ingest import IngestCommit, IngestRecord, OnError, Rejected, written_target
from service.model.ingest.ingest_request import IngestRequest, Write
from service.model.ingest.json_records import JsonRecords
from service.model.ingest.sources import SourceFile
from service.model.ingest.validation_schema import ValidatedSchemas
from service.model.ingest.writing import LONGEST_WRITE, Destination, TableKey, WritableTable, WriteResult
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.tables.schema_changes import TableEvolution
from service.ports.clock import Clock
from service.ports.stores.audit_log import NO_TRAIL, AuditTrail
from service.ports.stores.ingest_log import IngestLog
from service.ports.tables.data_files import DataFiles, Spools
from service.ports.tables.sources import never
from service.ports.tables.table_changes import DeadLetterTables, TableChanges, WritableTables
from service.ports.telemetry.ingest_metrics import IngestMetrics
from service.ports.telemetry.lineage import Lineage, NoLineage
from service.tracing import current, step

# The time left before files may count as orphans: for the log, and for differences between clocks.
_ACCEPTED_WITHIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPorts:
    """The ports and settings that an ingest is run with."""

    tables: WritableTables
    data_files: DataFiles
    dead_letters: DeadLetterTables
    log: IngestLog
    clock: Clock
    writable_names: tuple[str, ...] = ("*",)
    """Full names of the tables that may be written to, with `*` for any part."""
    bounds: ReadBounds = DEFAULT_BOUNDS
    """The size to which a body may expand when it is read."""
    large: LargeInputs | None = None
    """The writer of large inputs; without it, the gateway writes everything itself."""
    metrics: IngestMetrics = field(default_factory=NoIngestMetrics)
    turn: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held while the records of a small ingest are read and written; it waits for this ingest's turn."""
    changes: TableChanges
    spools: Spools
    """The place of bodies, and of their decompressed content."""
    lineage: Lineage = field(default_factory=NoLineage)
    change_rules: ChangeRules = NOTHING_FORBIDDEN
    trail: AuditTrail = field(default=NO_TRAIL)
    """The audit of ingests that belong to no request."""
    access: Access = FULL_ACCESS
    """The rights of the ingest's sender."""

    def within(self, access: Access) -> IngestPorts:
        """Returns the same ports for one ingest, whose sender may do no more than `access` allows."""
        if access is FULL_ACCESS:
            return self
        return replace(self, access=access, change_rules=replace(self.change_rules, access=access))

    def canceled_by(self, is_canceled: Callable[[], bool]) -> IngestPorts:
        """Returns the same ports for one ingest, whose search for files stops once `is_canceled` says so."""
        if is_canceled is never or self.large is None:
            return self
        sources = SourcesUntil(self.large.sources, is_canceled)
        return replace(self, large=replace(self.large, sources=sources))


def run_ingest(
    request: IngestRequest, caller: str, ports: IngestPorts, check_room: Callable[[], None] = lambda: None
) -> IngestRecord:
    """Accepts the ingest: its files are written and will be committed, whatever happens to this process.

    There is one exception: its table may change so that they cannot be committed, which is then reported
    (`IngestState`). A `requestId` that this caller has sent before returns the earlier ingest. `check_room`
    raises where no new ingest is accepted.

    An error has the `evolutions` that were committed before it.

    Raises:
        RequestIdReused: the requestId is known, with another body.
        WriteNotAllowed, TableNotFound, WriteSchemaInvalid, RecordsInvalid: nothing was written.
        IngestInvalid: the request is invalid, or writing took almost a day; nothing of it is kept.
        SchemaMismatch, CreationInvalid: nothing was created, changed or written.
        CatalogDown, StorageDown, TooManyIngests: nothing was accepted.
        MetricsStoreDown: it may or may not be accepted; sending the same requestId again settles it.
    """
    began_ms = ports.clock.elapsed_ms()
    before = sent_before(ports.log.find_request, caller, request.request_id, request.fingerprint)
    if before is not None:
        return before
    check_room()
    # An ingest of dead letters alone requires nothing of the tables that they belong to.
    with step("sluice.ingest.match"):
        prepared = (
            Destinations((), ()) if request.validation_schema is not None else destinations_of(request, ports)
        )
    with reporting(lambda: prepared.evolutions), required_advice(request.writes):
        return _accepted(request, caller, prepared, ports, began_ms)


def _accepted(
    request: IngestRequest, caller: str, prepared: Destinations, ports: IngestPorts, began_ms: int
) -> IngestRecord:
    ingest_id, began_at = uuid4(), ports.clock.now()
    note_destinations(prepared.destinations)
    with step("sluice.ingest.write"):
        written = _written(request, ingest_id, prepared, ports)
    results, accepted_at = written.results, ports.clock.now()
    if accepted_at - began_at > LONGEST_WRITE - _ACCEPTED_WITHIN:
        _discard(written.tables, results, ports.data_files)
        raise _took_too_long(accepted_at - began_at)
    record = IngestRecord(
        ingest_id,
        caller,
        request.request_id,
        request.fingerprint,
        accepted_at,
        tuple(_commit(key, results) for key in dict.fromkeys(result.target.key for result in results)),
        written.rejected,
        ports.clock.elapsed_ms() - began_ms,
        request.stream_batch,
        prepared.evolutions,
        written.validated_schemas,
        current().context,
    )
    with step("sluice.ingest.accept"):
        accepted = ports.log.accept(record, results)
    if accepted.ingest_id != record.ingest_id:
        # The same request was sent twice at once, and the other one was accepted first.
        _discard(written.tables, results, ports.data_files)
        return same_request(accepted, request.fingerprint)
    ports.metrics.accepted(accepted)
    ports.lineage.ingest_accepted(accepted, request.read_from)
    return accepted


@dataclass(frozen=True, slots=True)
class Destinations:
    """The destination of each write of a request, and the changes made to tables for it."""

    destinations: tuple[Destination, ...]
    evolutions: tuple[TableEvolution, ...]
    files: Sequence[SourceFile] | None = None
    """The files of a source, if they were read for their columns."""


def destinations_of(request: IngestRequest, ports: IngestPorts) -> Destinations:
    """Returns each write's destination; tables are created or changed only if every write can go to one.

    Raises:
        WriteNotAllowed, TableNotFound, WriteSchemaInvalid, IngestInvalid: a write has no valid destination,
            and none can be made.
        TableAccessDenied: its sender may not write there.
        CatalogDown: the catalog does not answer.
    """
    _check_allowed(request, ports)
    check_separate_dead_letters(request)
    check_changes(request)
    present = PresentColumns(request, ports.bounds, ports.spools, ports.large)

    def targets(writes: Sequence[Write], tables: Mapping[TableKey, WritableTable]) -> tuple[Destination, ...]:
        is_read = request.executed is not None and any(write.is_inferred for write in writes)
        if is_read and not tables.keys() >= {write.key for write in writes}:
            # A source may be large, and the request is rejected whatever its content.
            return ()
        return resolve_targets(writes, tables, present.of(tables), are_routed=request.route is not None)

    matched = match_tables(request.writes, ports.tables, ports.changes, ports.change_rules, targets)
    # Another process may have changed a table since it was planned.
    with reporting(lambda: matched.evolutions):
        return Destinations(targets(request.writes, matched.by_key), matched.evolutions, present.files)


@dataclass(frozen=True, slots=True)
class _Written:
    results: Sequence[WriteResult]
    rejected: Rejected
    tables: Mapping[TableKey, WritableTable]
    validated_schemas: ValidatedSchemas | None = None


def _written(request: IngestRequest, ingest_id: UUID, prepared: Destinations, ports: IngestPorts) -> _Written:
    destinations = prepared.destinations
    if ports.large is not None and is_executed(request, ports.large):
        files = WritePorts(data_files=ports.data_files, dead_letters=ports.dead_letters, clock=ports.clock)
        executed = ExecutedWrite(request, ingest_id, destinations, files, ports.large, prepared.files)
        executed.run()
        return _Written(executed.results, executed.rejected, executed.tables, executed.validated_schemas)
    sorted_out = _sorted_out(request, ingest_id, destinations, ports)
    # An ingest that may take long must not keep the others waiting.
    with ports.turn() if _is_small(request) else nullcontext():
        results = ports.data_files.write_all(sorted_out)
    return _Written(results, sorted_out.rejected, sorted_out.tables)


def _is_small(request: IngestRequest) -> bool:
    """Returns whether its records come from a body so small that they are read all at once."""
    given = [request.shared] if request.shared is not None else [write.records for write in request.writes]
    return all(isinstance(records, JsonRecords) for records in given)


def _sorted_out(
    request: IngestRequest, ingest_id: UUID, destinations: Sequence[Destination], ports: IngestPorts
) -> AcceptedRows:
    targets = [
        read_target(
            write,
            destination,
            cached_written_fields(destination.table.schema, destination.target.write_schema_column_ids),
            ports.bounds.rest_bytes,
        )
        for write, destination in zip(request.writes, destinations, strict=True)
    ]
    dead_letters = None
    if request.on_error is OnError.DEAD_LETTER:
        dead_letters = DeadLetters(ingest_id, ports.clock.now(), request, ports.dead_letters)
    joined = replace(request, route=joined_routes(request.route, destinations, targets))
    return AcceptedRows(request_rows(joined, targets, ports.bounds, ports.spools), destinations, dead_letters)


def _check_allowed(request: IngestRequest, ports: IngestPorts) -> None:
    for table in dict.fromkeys(write.key.table for write in request.writes):
        if not any(fnmatchcase(str(table), name) for name in ports.writable_names):
            raise WriteNotAllowed(f"Callers may not write to {table} here.")
    check_write_rights(request.writes, request.on_error, ports.access)


def _took_too_long(took: timedelta) -> IngestInvalid:
    return IngestInvalid(
        f"Writing it took {took}. Files of that age may be removed as orphans, so nothing of it is"
        " kept. Send it in several parts."
    )


def _discard(
    tables: Mapping[TableKey, WritableTable], results: Sequence[WriteResult], data_files: DataFiles
) -> None:
    for result in results:
        # A file that remains is an orphan that belongs to no table, and maintenance removes it.
        with suppress(GatewayError):
            data_files.discard(tables[result.target.key], result)


def _commit(key: TableKey, results: Sequence[WriteResult]) -> IngestCommit:
    return IngestCommit(
        key,
        tuple(written_target(result) for result in results if result.target.key == key),
    )
