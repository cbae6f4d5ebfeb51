"""Builds the audit log from the settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.audit.postgres_audit_log import PostgresAuditLog
from service.adapters.telemetry.audit_collector import AuditCollector
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.audit.audit import Audit
from service.audit.audit_buffer import AuditBuffer, BufferBounds
from service.ports.clock import Clock
from service.ports.stores.audit_log import NO_TRAIL, AuditLog


def build_audit(settings: Settings, components: Components, clock: Clock, metrics: QueryMetrics) -> Audit:
    """Begins to write events, until the components are closed. Build it before all that is audited."""
    log = PostgresAuditLog(components.migrated_store_url)
    components.stack.callback(log.close)
    if not settings.audit:
        return Audit(NO_TRAIL, log)
    bounds = BufferBounds(capacity=settings.audit_buffer_events, when_full=settings.audit_when_full)
    buffer = AuditBuffer(log, clock, timedelta(days=settings.audit_retention_days), bounds)
    components.stack.callback(buffer.close)
    buffer.start()
    metrics.watch(AuditCollector(lambda: buffer.use))
    return Audit(buffer, log)


@contextmanager
def opened_audit_log(settings: Settings) -> Iterator[AuditLog]:
    """Opens the log for a command.

    Raises:
        CannotStart: this version cannot use the metrics store.
    """
    with ExitStack() as stack:
        log = PostgresAuditLog(Components(settings=settings, stack=stack).migrated_store_url)
        stack.callback(log.close)
        yield log
