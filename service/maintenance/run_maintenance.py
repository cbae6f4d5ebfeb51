"""Runs one maintenance to its end, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.maintenance_errors import MaintenanceFailed
from service.maintenance.may_remove_orphans import check_may_remove_orphans
from service.maintenance.no_maintenance_metrics import NoMaintenanceMetrics
from service.model.operations.maintenance import (
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceState,
    OperationResult,
)
from service.ports.clock import Clock
from service.ports.tables.catalogs import Catalogs
from service.ports.tables.table_maintenance import (
    MaintenanceLog,
    MaintenanceMetrics,
    MaintenanceTurns,
    TableMaintenance,
    WaitingIngests,
)
from service.ports.telemetry.lineage import Lineage, NoLineage

ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenancePorts:
    """The ports and clocks of a maintenance.

    `clock` is the one that all replicas share. `deletion_clock` is never ahead of it, nor of this machine's.
    """

    table_maintenance: TableMaintenance
    log: MaintenanceLog
    turns: MaintenanceTurns
    waiting: WaitingIngests
    catalogs: Catalogs
    clock: Clock
    deletion_clock: Clock
    lineage: Lineage = field(default_factory=NoLineage)
    metrics: MaintenanceMetrics = field(default_factory=NoMaintenanceMetrics)


def run_maintenance(record: MaintenanceRecord, ports: MaintenancePorts) -> MaintenanceRecord:
    """Runs the remaining operations and records the progress. Every operation may be repeated.

    When a part is down, the maintenance stays open and is tried a few more times; the maintenance itself may
    be why the part is down.

    Raises:
        MetricsStoreDown: the progress could not be recorded; the maintenance stays open.
    """
    if record.attempts >= ATTEMPTS:
        # Whoever began it is gone and cannot say what happened.
        return _ended(record, ports, MaintenanceFailed(f"Given up: it was started {ATTEMPTS} times."))
    record = replace(
        record,
        state=MaintenanceState.RUNNING,
        started_at=record.started_at or ports.clock.now(),
        attempts=record.attempts + 1,
    )
    ports.log.save(record)
    try:
        for operation in _left(record):
            record = replace(record, results=(*record.results, _done(operation, record, ports)))
            ports.log.save(record)
    except PartDown as down:
        if record.attempts < ATTEMPTS:
            raise
        return _ended(record, ports, MaintenanceFailed(f"Tried {ATTEMPTS} times: {down.detail}"))
    except GatewayError as failure:
        return _ended(record, ports, failure)
    return _ended(record, ports)


def _left(record: MaintenanceRecord) -> list[MaintenanceOperation]:
    done = {result.operation for result in record.results}
    return [
        operation
        for operation in MaintenanceOperation
        if operation in record.request.operations and operation not in done
    ]


def _done(
    operation: MaintenanceOperation, record: MaintenanceRecord, ports: MaintenancePorts
) -> OperationResult:
    began_ms = ports.clock.elapsed_ms()
    counts = _counts(operation, record, ports)
    return OperationResult(operation, counts, ports.clock.elapsed_ms() - began_ms)


def _counts(
    operation: MaintenanceOperation, record: MaintenanceRecord, ports: MaintenancePorts
) -> Mapping[str, int]:
    request = record.request
    table, bounds = request.key.table, request.bounds
    # Ages are those at the request: waiting for its turn must not make it remove more than it asked for.
    now = min(ports.deletion_clock.now(), record.requested_at)
    match operation:
        case MaintenanceOperation.COMPACT:
            return ports.table_maintenance.compact(request.key)
        case MaintenanceOperation.EXPIRE:
            snapshots_before = now - bounds.snapshot_age
            return ports.table_maintenance.expire(table, snapshots_before, bounds.snapshots_kept)
        case MaintenanceOperation.REMOVE_ORPHANS:
            older_than = now - bounds.orphan_age
            check_may_remove_orphans(table, older_than, ports.waiting, ports.catalogs)
            return ports.table_maintenance.remove_orphans(table, older_than)
        case _:
            assert_never(operation)


def _ended(
    record: MaintenanceRecord, ports: MaintenancePorts, failure: GatewayError | None = None
) -> MaintenanceRecord:
    ended = replace(
        record,
        state=MaintenanceState.SUCCEEDED if failure is None else MaintenanceState.FAILED,
        ended_at=ports.clock.now(),
        error_code=None if failure is None else failure.code,
        error_detail=None if failure is None else failure.detail,
    )
    ports.log.save(ended)
    return ended
