"""Wires the parts of maintenance, for `api.bootstrap.wiring.build_gateway`."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

from api.bootstrap.parts.shared_clocks import deletion_clock, store_clock
from api.bootstrap.settings import Settings
from service.adapters.postgres.maintenance.maintenance_log import PostgresMaintenanceLog
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.maintenance.maintenance_service import MaintenancePlan, MaintenanceService
from service.maintenance.run_maintenance import MaintenancePorts
from service.model.operations.maintenance import MaintenanceBounds
from service.ports.clock import Clock
from service.ports.tables.catalogs import Catalogs
from service.ports.tables.table_maintenance import TableMaintenance
from service.ports.telemetry.lineage import Lineage


def build_maintenances(
    settings: Settings,
    catalogs: Catalogs,
    table_maintenance: TableMaintenance,
    store_url: str,
    clock: Clock,
    stack: ExitStack,
    lineage: Lineage,
    metrics: QueryMetrics,
) -> MaintenanceService:
    """Begins to run open maintenance. The log's table must exist."""
    log = PostgresMaintenanceLog(store_url)
    stack.callback(log.close)
    metrics.pools.add("maintenance", lambda: log.pool)
    ports = MaintenancePorts(
        table_maintenance=table_maintenance,
        log=log,
        turns=log,
        waiting=log,
        catalogs=catalogs,
        clock=store_clock(store_url, clock, stack),
        deletion_clock=deletion_clock(store_url, clock, stack),
        lineage=lineage,
        metrics=metrics.maintenances,
    )
    made = MaintenanceService(ports, _plan(settings))
    stack.callback(made.close, 0)
    made.start()
    return made


def _plan(settings: Settings) -> MaintenancePlan:
    return MaintenancePlan(
        timedelta(seconds=settings.maintenance_interval_s),
        settings.maintenance_operations,
        MaintenanceBounds(
            snapshot_age=timedelta(hours=settings.maintenance_snapshot_age_h),
            snapshots_kept=settings.maintenance_snapshots_kept,
            orphan_age=timedelta(hours=settings.maintenance_orphan_age_h),
        ),
        settings.ingest_tables,
        timedelta(days=settings.metrics_retention_days),
        appended_files=settings.maintenance_appended_files,
        idle=timedelta(seconds=settings.maintenance_idle_s),
        floors=MaintenanceBounds(
            snapshot_age=timedelta(hours=settings.maintenance_min_snapshot_age_h),
            snapshots_kept=settings.maintenance_min_snapshots_kept,
            orphan_age=timedelta(hours=settings.maintenance_min_orphan_age_h),
        ),
    )
