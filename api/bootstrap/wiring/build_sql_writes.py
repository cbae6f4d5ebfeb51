"""Builds the parts of writes by SQL from the settings."""

from __future__ import annotations

from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.sql_writes.commit_marks import IcebergCommitMarks
from service.adapters.sql_writes.outcome_rows import outcome_rows
from service.adapters.sql_writes.postgres_write_log import PostgresWriteLog
from service.maintenance.called_maintenance import CalledMaintenance
from service.maintenance.maintenance_service import MaintenanceService
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.sql_writes.sql_writes import GRACE_S, SqlWriteBounds, SqlWrites

_FORGET_EVERY_S = 3_600.0
_ENDED_WITHIN_S = 2.0


def build_sql_writes(
    settings: Settings, components: Components, clock: Clock, maintenances: MaintenanceService
) -> SqlWrites | None:
    """Returns the writes by SQL; None: SQL may not write here."""
    if not settings.sql_writes:
        return None
    log = PostgresWriteLog(components.migrated_store_url)
    components.stack.callback(log.close)
    kept = timedelta(days=settings.metrics_retention_days)

    def forget() -> None:
        log.forget_before(clock.now() - kept)

    forgetting = PeriodicWorker("sql-writes-forget", forget, _FORGET_EVERY_S, waits_first=True)
    components.stack.callback(forgetting.close, _ENDED_WITHIN_S)
    forgetting.start()
    writes = SqlWrites(
        log,
        IcebergCommitMarks(components.catalogs.opened),
        clock,
        outcome_rows,
        SqlWriteBounds(
            tables=settings.sql_write_tables,
            settle_s=settings.sql_write_settle_s,
            grace_s=GRACE_S + settings.engine_grace_s + settings.engine_given_up_timeout_s,
            is_pruning=settings.sql_write_pruning,
        ),
        CalledMaintenance(maintenances),
    )
    components.stack.callback(writes.close)
    return writes
