"""In-memory maintenance: a log that can be taken down, and an engine that a test controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from service.errors.unavailable import MetricsStoreDown
from service.maintenance.maintenance_service import MaintenancePlan, MaintenanceService
from service.maintenance.no_maintenance_metrics import NoMaintenanceMetrics
from service.maintenance.run_maintenance import MaintenancePorts
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    Gathered,
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceState,
)
from service.model.tables.tables import TableName
from service.ports.clock import Clock
from service.ports.tables.catalogs import Catalogs
from service.ports.tables.table_maintenance import MaintenanceMetrics

BOUNDS = MaintenanceBounds(snapshot_age=timedelta(days=5), snapshots_kept=1, orphan_age=timedelta(days=3))
PLAN = MaintenancePlan(timedelta(hours=1), (MaintenanceOperation.COMPACT,), BOUNDS)


class FakeMaintenanceLog:
    """Also answers which tables are busy, due or waiting, as a test sets it."""

    def __init__(self) -> None:
        self.records: dict[UUID, MaintenanceRecord] = {}
        self.saved: list[MaintenanceRecord] = []
        self.upserted: dict[TableKey, datetime] = {}
        self.files: dict[TableKey, list[datetime]] = {}
        """The commit time of each file of a table."""
        self.busy: set[TableName] = set()
        self.oldest_waiting: dict[TableName, datetime] = {}
        self.is_down = False

    def add(self, record: MaintenanceRecord) -> MaintenanceRecord:
        self._require_up()
        table = record.request.key.table
        for other in self.records.values():
            if other.request.key.table == table and other.ended_at is None:
                return other
        self.records[record.maintenance_id] = record
        return record

    def save(self, record: MaintenanceRecord) -> None:
        self._require_up()
        self.records[record.maintenance_id] = record
        self.saved.append(record)

    def find(self, maintenance_id: UUID) -> MaintenanceRecord | None:
        self._require_up()
        return self.records.get(maintenance_id)

    def forget(self, before: datetime) -> int:
        self._require_up()
        ended = {key: record.ended_at for key, record in self.records.items() if record.ended_at is not None}
        old = [key for key, moment in ended.items() if moment < before]
        for key in old:
            del self.records[key]
        return len(old)

    def latest(self, table: TableName, limit: int) -> Sequence[MaintenanceRecord]:
        self._require_up()
        own = [record for record in self.records.values() if record.request.key.table == table]
        return sorted(own, key=lambda record: record.requested_at, reverse=True)[:limit]

    def open(self) -> Sequence[MaintenanceRecord]:
        self._require_up()
        found = [record for record in self.records.values() if record.ended_at is None]
        return sorted(found, key=lambda record: record.requested_at)

    @contextmanager
    def alone(self, table: TableName) -> Iterator[bool]:
        self._require_up()
        yield table not in self.busy

    def due(self, since: datetime) -> Sequence[TableKey]:
        self._require_up()
        compacted = {
            record.request.key
            for record in self.records.values()
            if record.requested_at > since
            or (
                record.started_at is not None
                and record.started_at > self.upserted.get(record.request.key, since)
            )
        }
        return [key for key, moment in self.upserted.items() if moment <= since and key not in compacted]

    def gathered(self, wanted: Gathered) -> Sequence[TableKey]:
        self._require_up()
        return [key for key, moments in self.files.items() if self._has_gathered(key, moments, wanted)]

    def _has_gathered(self, key: TableKey, moments: Sequence[datetime], wanted: Gathered) -> bool:
        runs = [
            record
            for record in self.records.values()
            if record.request.key == key and wanted.operation in record.request.operations
        ]
        done = [run.started_at for run in runs if run.state is MaintenanceState.SUCCEEDED]
        left = [moment for moment in moments if all(one is None or moment > one for one in done)]
        is_tried = any(run.requested_at > wanted.since for run in runs)
        return not is_tried and len(left) >= wanted.file_count and min(left) <= wanted.since

    def oldest(self, table: TableName) -> datetime | None:
        self._require_up()
        return self.oldest_waiting.get(table)

    def _require_up(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


class FakeMaintenanceMetrics:
    """Stores the values it is given."""

    def __init__(self) -> None:
        self.records: list[MaintenanceRecord] = []
        self.postponed_count = 0

    def ended(self, record: MaintenanceRecord) -> None:
        self.records.append(record)

    def postponed(self) -> None:
        self.postponed_count += 1


class FakeTableMaintenance:
    """Records its calls; `failures` are raised one after the other, and None lets one call succeed."""

    def __init__(self) -> None:
        self.done: list[tuple[object, ...]] = []
        self.failures: list[Exception | None] = []
        self.before: Callable[[], None] = lambda: None

    def compact(self, key: TableKey) -> Mapping[str, int]:
        return self._do("compact", key)

    def expire(self, table: TableName, older_than: datetime, snapshots_kept: int) -> Mapping[str, int]:
        return self._do("expire", table, older_than, snapshots_kept)

    def remove_orphans(self, table: TableName, older_than: datetime) -> Mapping[str, int]:
        return self._do("removeOrphans", table, older_than)

    def _do(self, *words: object) -> Mapping[str, int]:
        self.before()
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        self.done.append(words)
        return {"files": 1}


class FakeMaintenances(MaintenanceService):
    """Maintenance over fakes alone. Nothing runs by itself: call `run_open`."""

    def __init__(
        self,
        catalogs: Catalogs,
        clock: Clock,
        plan: MaintenancePlan = PLAN,
        metrics: MaintenanceMetrics | None = None,
        deletion_clock: Clock | None = None,
    ) -> None:
        self.log = FakeMaintenanceLog()
        self.table_maintenance = FakeTableMaintenance()
        counting = metrics or NoMaintenanceMetrics()
        ports = MaintenancePorts(
            table_maintenance=self.table_maintenance,
            log=self.log,
            turns=self.log,
            waiting=self.log,
            catalogs=catalogs,
            clock=clock,
            deletion_clock=deletion_clock or clock,
            metrics=counting,
        )
        super().__init__(ports, plan)
