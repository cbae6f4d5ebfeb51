"""Builds the parts that the run of a query needs."""

from __future__ import annotations

from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.parts.shared_clocks import deletion_clock
from api.bootstrap.settings import Settings
from api.bootstrap.shown_settings import shown_statement
from api.bootstrap.wiring.build_pruner import build_pruner
from api.bootstrap.wiring.build_refresh import build_refresh
from api.bootstrap.wiring.build_results import build_formatted_files, build_results
from api.bootstrap.wiring.build_reuse import build_reuse
from api.bootstrap.wiring.build_sessions import own_settings
from service.adapters.lineage.lineage_journal import LineageJournal
from service.adapters.processes.bounded_processes import BoundedProcesses
from service.adapters.telemetry.buffered_journal import BufferedJournal
from service.adapters.telemetry.metered_journal import MeteredJournal
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.record_collector import RecordCollector
from service.audit.audit import Audit
from service.audit.audited_queries import AuditedJournal
from service.policies.live_policies import LivePolicies
from service.ports.clock import Clock
from service.ports.telemetry.lineage import Lineage
from service.query.execution.run_query import QueryPorts
from service.query.execution.session_view_texts import SessionViewTexts
from service.query.filtering.detection.look_for_filters import ready
from service.query.registry.readable_results import ReadableResults


def build_query_ports(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    lineage: Lineage,
    audit: Audit,
    policies: LivePolicies | None,
) -> QueryPorts:
    """Returns the parts that the run of a query needs."""
    results = build_results(settings, components, clock)
    components.stack.callback(results.close)
    formatted = build_formatted_files(settings, components, clock, results)
    components.stack.callback(formatted.close)
    journal = BufferedJournal(
        components.metrics_store,
        deletion_clock(components.migrated_store_url, clock, components.stack),
        timedelta(days=settings.metrics_retention_days),
        settings.metrics_buffer_records,
    )
    components.stack.callback(journal.close)
    calls = BoundedProcesses(
        settings.dynamic_filtering_processes, settings.dynamic_filtering_detection_timeout_s, (ready, ())
    )
    components.stack.callback(calls.close)
    metrics.watch(RecordCollector(lambda: journal.use))
    metrics.caches.add("results", lambda: results.use)
    metrics.caches.add("formatted_results", lambda: formatted.use, formatted.clear)
    metrics.pools.add("planners", lambda: calls.use)
    audited = AuditedJournal(
        LineageJournal(MeteredJournal(journal, metrics), lineage), audit.trail, shown_statement(settings)
    )
    pruner = build_pruner(settings, components, clock, calls)
    readable = ReadableResults(results, None if policies is None else policies.access_of)
    return QueryPorts(
        engine=components.engine,
        describer=components.engine,
        catalogs=components.all_catalogs,
        results=results,
        readable=readable,
        written=results,
        files=results,
        formatted=formatted,
        results_health=results.health,
        journal=audited,
        clock=clock,
        pruner=pruner,
        max_sql_bytes=settings.max_sql_bytes,
        max_sql_nesting=settings.max_sql_nesting,
        engine_retries=settings.engine_retries,
        calls=calls,
        lineage=lineage,
        running=components.engine,
        admission_metrics=metrics.admission,
        cpu_times=components.engine if components.spark_settings.counts_cpu else None,
        reuse=build_reuse(
            settings,
            components,
            results,
            audited,
            clock,
            lineage,
            metrics,
            readable,
            own_settings(settings),
        ),
        session_views=SessionViewTexts(components.engine, calls, components.catalog_names),
        refresh=build_refresh(settings, components, pruner, calls, clock, lineage, metrics),
    )
