"""All maintenance of this gateway: requested or scheduled, and run one table after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from uuid import UUID, uuid4

import structlog

from service.errors.gateway_error import PartDown
from service.errors.ingest_errors import WriteNotAllowed
from service.errors.maintenance_errors import MaintenanceNotFound, MaintenanceRunning
from service.errors.unavailable import ShuttingDown
from service.maintenance.called_procedures import called_request, check_call
from service.maintenance.floors import check_floors
from service.maintenance.run_maintenance import MaintenancePorts, run_maintenance
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    NO_FLOORS,
    Gathered,
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
)
from service.model.tables.tables import TableName
from service.model.writes.procedure_calls import ProcedureCall
from service.periodic_worker import PeriodicWorker

log = structlog.get_logger(__name__)

SCHEDULE = "schedule"
"""The caller of scheduled maintenance."""
LISTED_AT_MOST = 50
LOOK_AROUND_S = 5.0
HOUSEKEEPING_MS = 60_000


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """The operations that run on their own, and their default bounds.

    `operations` run `interval` after upserts. A table that has got `appended_files` is compacted as often.
    `idle` after a commit, every operation runs that has not run since. An ended maintenance is reported for
    as long as it is `retention`. Whoever asks for it, no maintenance removes what `floors` keep.
    """

    interval: timedelta
    operations: tuple[MaintenanceOperation, ...]
    bounds: MaintenanceBounds
    writable_names: tuple[str, ...] = ("*",)
    retention: timedelta = timedelta(days=30)
    poll_interval_s: float = LOOK_AROUND_S
    appended_files: int = 0
    """0: appended files do not count."""
    idle: timedelta = timedelta()
    """0: never."""
    floors: MaintenanceBounds = NO_FLOORS

    @property
    def is_scheduled(self) -> bool:
        """Whether any operation runs on its own."""
        return bool(self.interval) and bool(self.operations)


class MaintenanceService:
    """Takes and runs maintenance requests. One thread runs open ones, of any replica.

    Any thread may call any method.
    """

    def __init__(self, ports: MaintenancePorts, plan: MaintenancePlan) -> None:
        self.plan = plan
        self._ports = ports
        self._next_housekeeping_ms = 0
        self._is_ending = threading.Event()
        self._worker = PeriodicWorker("maintenance", self._work, plan.poll_interval_s)

    def start(self) -> None:
        """Starts to run open maintenance."""
        self._worker.start()

    def ask(self, request: MaintenanceRequest, caller: str) -> MaintenanceRecord:
        """Takes the request; it runs when its turn comes, perhaps at another replica, or after a restart.

        Raises:
            ShuttingDown: the gateway accepts nothing more.
            WriteNotAllowed: callers may not write to this table.
            MaintenanceBelowFloor: it would remove what the operator keeps.
            TableNotFound, CatalogDown: there is no such table now.
            MaintenanceRunning: the table has one that has not ended.
            MetricsStoreDown: the log does not answer.
        """
        return self._take(self._record(request, caller))

    def call(
        self, call: ProcedureCall, table: TableName, caller: str, maintenance_id: UUID
    ) -> MaintenanceRecord:
        """Takes the maintenance that a procedure of SQL is, under this id.

        Raises:
            StatementNotAllowed, SqlInvalid: there is no such procedure, or an argument does not fit.
            ShuttingDown, WriteNotAllowed, MaintenanceBelowFloor, TableNotFound, CatalogDown,
            MaintenanceRunning, MetricsStoreDown: as `ask`.
        """
        check_call(call)
        now = self._ports.clock.now()
        request = called_request(call, table, self.plan.bounds, now)
        return self._take(MaintenanceRecord(maintenance_id, request, caller, now))

    def _take(self, record: MaintenanceRecord) -> MaintenanceRecord:
        request = record.request
        if self._is_ending.is_set():
            raise ShuttingDown
        self._check_allowed(request.key.table)
        check_floors(request, self.plan.floors)
        self._ports.catalogs.facts(request.key.table)
        open_one = self._ports.log.add(record)
        if open_one.maintenance_id != record.maintenance_id:
            raise MaintenanceRunning(
                f"{request.key.table} is being maintained: {open_one.maintenance_id} has not ended yet."
            )
        self._worker.wake()
        return record

    def find(self, table: TableName, maintenance_id: UUID) -> MaintenanceRecord:
        """Returns the maintenance as it is now.

        Raises:
            MaintenanceNotFound: the table has none with this id.
            MetricsStoreDown: the log does not answer.
        """
        found = self._ports.log.find(maintenance_id)
        if found is None or found.request.key.table != table:
            raise MaintenanceNotFound
        return found

    def latest(self, table: TableName) -> Sequence[MaintenanceRecord]:
        """Lists the table's newest maintenances, the newest first, up to the reported number.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        return self._ports.log.latest(table, LISTED_AT_MOST)

    def is_allowed(self, table: TableName) -> bool:
        """Whether the operator lets callers write to the table. Policies may still refuse a caller."""
        return any(fnmatchcase(str(table), name) for name in self.plan.writable_names)

    def run_open(self) -> None:
        """Adds what is due, and runs every open maintenance that no other replica runs.

        Raises:
            PartDown: a part that it needs is down; open maintenance stays open.
        """
        now_ms = self._ports.clock.elapsed_ms()
        if now_ms >= self._next_housekeeping_ms:
            interval_ms = int(self.plan.interval.total_seconds() * 1000) or HOUSEKEEPING_MS
            self._next_housekeeping_ms = now_ms + min(HOUSEKEEPING_MS, interval_ms)
            self._ports.log.forget(self._ports.deletion_clock.now() - self.plan.retention)
            self._ask_for_what_is_due()
        for record in self._ports.turns.open():
            if self._worker.is_closing:
                return
            self._take_turn(record)

    def stop_taking(self) -> None:
        """Accepts nothing more; open maintenance still runs."""
        self._is_ending.set()

    def close(self, timeout_s: float) -> None:
        """Starts nothing more. A running operation goes on while the engine lives; its record stays open."""
        self._worker.close(timeout_s)

    def _check_allowed(self, table: TableName) -> None:
        if not self.is_allowed(table):
            raise WriteNotAllowed(f"Callers may not write to {table} here.")

    def _record(self, request: MaintenanceRequest, caller: str) -> MaintenanceRecord:
        return MaintenanceRecord(uuid4(), request, caller, self._ports.clock.now())

    def _ask_for_what_is_due(self) -> None:
        if not self.plan.is_scheduled:
            return
        for key, operations in self._due():
            if self.is_allowed(key.table):
                request = MaintenanceRequest(key, operations, self.plan.bounds)
                self._ports.log.add(self._record(request, SCHEDULE))

    def _due(self) -> Iterator[tuple[TableKey, tuple[MaintenanceOperation, ...]]]:
        """Yields tables and operations that are due, and reads the log again after each group of requests."""
        plan, turns, now = self.plan, self._ports.turns, self._ports.clock.now()
        compacts = MaintenanceOperation.COMPACT in plan.operations
        for key in turns.due(now - plan.interval) if compacts else ():
            yield key, plan.operations
        if plan.idle:
            # The operation that runs with the fewest others, whoever asks for it.
            rarest = max(plan.operations, key=list(MaintenanceOperation).index)
            for key in turns.gathered(Gathered(rarest, now - plan.idle)):
                yield key, plan.operations
        if plan.appended_files and compacts:
            files = Gathered(MaintenanceOperation.COMPACT, now - plan.interval, plan.appended_files)
            for key in turns.gathered(files):
                yield key, (MaintenanceOperation.COMPACT,)

    def _take_turn(self, record: MaintenanceRecord) -> None:
        with self._ports.turns.alone(record.request.key.table) as is_alone:
            if not is_alone:
                return
            # Another replica may have ended it in the meantime.
            now = self._ports.log.find(record.maintenance_id)
            if now is None or now.ended_at is not None:
                return
            try:
                ended = run_maintenance(self._within_floors(now), self._ports)
            except PartDown:
                self._ports.metrics.postponed()
                raise
            self._ports.metrics.ended(ended)
            _report(ended)
            self._ports.lineage.maintained(ended)

    def _within_floors(self, record: MaintenanceRecord) -> MaintenanceRecord:
        """Returns the record with bounds of now: it may have been requested under lower floors."""
        request = record.request
        return replace(record, request=replace(request, bounds=request.bounds.at_least(self.plan.floors)))

    def _work(self) -> None:
        try:
            self.run_open()
        except PartDown as down:
            log.warning("maintenance_postponed", reason=down.detail)


def _report(record: MaintenanceRecord) -> None:
    key = record.request.key
    reported = log.bind(table=str(key.table), branch=key.branch, maintenance_id=str(record.maintenance_id))
    if record.state is MaintenanceState.FAILED:
        reported.warning("maintenance_failed", code=record.error_code, reason=record.error_detail)
    else:
        reported.info(
            "maintenance_done",
            results={result.operation.value: dict(result.counts) for result in record.results},
        )
