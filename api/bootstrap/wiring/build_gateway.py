"""Builds the gateway from its parts."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from api.bootstrap.parts.await_given_stores import await_given_stores
from api.bootstrap.parts.build_admission import admission_rules
from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.shown_settings import shown_statement
from api.bootstrap.wiring.build_audit import build_audit
from api.bootstrap.wiring.build_authentication import (
    build_api_keys,
    build_issuer_sessions,
    current_principals,
)
from api.bootstrap.wiring.build_authorization import build_policies
from api.bootstrap.wiring.build_ingests import build_ingests
from api.bootstrap.wiring.build_layout_advice import build_layout_advice, build_layout_trials
from api.bootstrap.wiring.build_maintenances import build_maintenances
from api.bootstrap.wiring.build_query_ports import build_query_ports
from api.bootstrap.wiring.build_saved_queries import build_saved_queries
from api.bootstrap.wiring.build_sessions import build_sessions, own_settings
from api.bootstrap.wiring.build_sql_writes import build_sql_writes
from api.bootstrap.wiring.build_streams import ReadStream, build_streams, large_inputs
from api.bootstrap.wiring.start_prefetch import start_prefetch
from api.bootstrap.wiring.start_warm_up import start_warm_up
from api.bootstrap.wiring.watch_gateway import watch_gateway
from service.adapters.catalogs.bounded_contents import BoundedContents
from service.adapters.catalogs.bounded_views import BoundedViews
from service.adapters.clock import SystemClock
from service.adapters.telemetry.prefetch_collector import PrefetchCollector
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.audit.audit import Audit
from service.audit.audited_queries import LostQueries
from service.browsing.catalog_browser import CatalogBrowser
from service.gateway import Gateway, GatewayBounds
from service.ingest.ingest_service import IngestService
from service.ingest.streaming.creator_policies import CreatorPolicies, CreatorRights
from service.ingest.streaming.stream_service import StreamService
from service.maintenance.maintenance_service import MaintenanceService
from service.model.operations.caller_classes import CallerClasses
from service.model.query.prefetch import PrefetchOutcome
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from service.ports.clock import Clock
from service.ports.stores.policy_store import NoPolicies
from service.ports.telemetry.lineage import Lineage, NoLineage
from service.query.execution.run_query import QueryPorts
from service.query.query_service import QueryBounds, QueryService
from service.query.registry.awaited_records import AwaitedBounds
from service.query.registry.presence import PresenceBounds
from service.sessions.session_service import SessionService
from spark_session.engine.contents import SparkContents
from spark_session.engine.row_deltas import SparkRowDeltas
from spark_session.engine.stored_orders import SparkStoredOrders
from spark_session.engine.table_maintenance import SparkTableMaintenance
from spark_session.engine.vector_writer import SparkVectorWriter
from spark_session.engine.views import SparkViews
from spark_session.jars.jars import check_java

COLLECTED_AFTER = 10_000


def build_gateway(
    settings: Settings, read_stream: ReadStream, stopping: threading.Event | None = None
) -> Gateway:
    """Starts every part, and returns once a real query has run.

    Raises:
        CannotStart: a part cannot start; the parts that had started are stopped again.
        ShuttingDown: the process has to stop while the start still waits for stores.
    """
    check_java()
    await_given_stores(settings, stopping or threading.Event())
    stack = ExitStack()
    try:
        gateway = _gateway(settings, Components(settings=settings, stack=stack), read_stream)
        # These objects live as long as the process, so the garbage collector need not look at them again.
        gc.collect()
        gc.freeze()
        # A query's trees and a body's records are thousands of objects each. Python's default is a collection
        # every 700 objects: most of them are still in use, and collections took an eighth of a planner's
        # time.
        gc.set_threshold(COLLECTED_AFTER)
        return gateway
    except BaseException:
        stack.close()
        raise


def _gateway(settings: Settings, components: Components, read_stream: ReadStream) -> Gateway:
    clock = SystemClock()
    metrics = QueryMetrics(CallerClasses(settings.caller_classes))
    # Closed last, so that it receives everything that ends.
    lineage = _lineage(settings, components, clock, metrics)
    audit = build_audit(settings, components, clock, metrics)
    sessions = build_sessions(settings, components)
    policy_service = build_policies(settings, components, metrics)
    maintenances = _maintenances(settings, components, clock, metrics, lineage)
    queries, ports = _queries(
        settings, components, clock, metrics, lineage, audit, sessions, policy_service.live, maintenances
    )
    committed = _prefetch(settings, components, clock, metrics, queries, ports, policy_service.live)
    ingests = _ingests(settings, components, clock, metrics, lineage, audit, committed)
    api_keys = build_api_keys(settings, components) if settings.api_keys else None
    policies = CreatorPolicies(
        policy_service.live or NoPolicies(), current_principals(settings, api_keys, clock).now
    )
    streams = _streams(settings, components, clock, metrics, ingests, policies, read_stream)
    layout_advice = build_layout_advice(settings, components, clock)
    gateway = Gateway(
        queries=queries,
        ingests=ingests,
        maintenances=maintenances,
        streams=streams,
        store=components.metrics_store,
        filter_cache=components.filter_cache,
        metrics=metrics,
        bounds=_gateway_bounds(settings),
        on_closed=components.stack.close,
        api_keys=api_keys,
        audit=audit,
        policies=policy_service.live,
        policy_service=policy_service,
        sessions=sessions,
        browser=_browser(settings, components, clock),
        saved_queries=build_saved_queries(settings, components),
        issuer_sessions=build_issuer_sessions(settings, components),
        layout_advice=layout_advice,
        layout_trials=build_layout_trials(settings, components, clock, layout_advice, maintenances),
        caches=metrics.caches,
    )
    watch_gateway(metrics, gateway, components)
    if settings.warm_up_queries:
        start_warm_up(settings, components, queries, clock)
    return gateway


def _gateway_bounds(settings: Settings) -> GatewayBounds:
    return GatewayBounds(
        shutdown_timeout_s=settings.shutdown_timeout_s,
        health_timeout_s=settings.health_timeout_s,
        engine_max_down_s=settings.engine_unresponsive_s + settings.liveness_patience_s,
    )


def _ingests(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    lineage: Lineage,
    audit: Audit,
    committed: Callable[[TableName], None],
) -> IngestService:
    return build_ingests(
        settings,
        components.catalogs,
        SparkRowDeltas(lambda: components.engine.session),
        SparkStoredOrders(components.engine, settings.ingest_ordered_read_s),
        SparkVectorWriter(components.engine, settings.ingest_ordered_read_s),
        components.migrated_store_url,
        components.folder("spool"),
        large_inputs(settings, components.engine),
        clock,
        components.stack,
        metrics,
        lineage,
        audit.trail,
        committed,
    )


def _streams(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    ingests: IngestService,
    policies: CreatorRights,
    read_stream: ReadStream,
) -> StreamService:
    return build_streams(
        settings,
        components.engine,
        ingests,
        components.migrated_store_url,
        components.folder("streams"),
        clock,
        components.stack,
        metrics,
        read_stream,
        policies,
    )


def _maintenances(
    settings: Settings, components: Components, clock: Clock, metrics: QueryMetrics, lineage: Lineage
) -> MaintenanceService:
    return build_maintenances(
        settings,
        components.catalogs,
        SparkTableMaintenance(lambda: components.engine.session, settings.maintenance_compaction_width),
        components.migrated_store_url,
        clock,
        components.stack,
        lineage,
        metrics,
    )


def _queries(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    lineage: Lineage,
    audit: Audit,
    sessions: SessionService,
    policies: LivePolicies | None,
    maintenances: MaintenanceService,
) -> tuple[QueryService, QueryPorts]:
    bounds = QueryBounds(
        workers=settings.query_workers,
        max_queued=settings.max_queued_queries,
        result_ttl_ms=settings.result_ttl_s * 1000,
        presence=PresenceBounds(
            interval_s=settings.replica_heartbeat_interval_s, lost_after_s=settings.replica_lost_after_s
        ),
        awaited=AwaitedBounds(wait_s=settings.replica_record_wait_s),
        admission=(rules := admission_rules(settings)),
    )
    metrics.admission.know(rules.groups)
    ports = replace(
        build_query_ports(settings, components, clock, metrics, lineage, audit, policies),
        sessions=sessions,
        own_settings=own_settings(settings),
        writes=build_sql_writes(settings, components, clock, maintenances),
    )
    lost = LostQueries(components.metrics_store, audit.trail, shown_statement(settings))
    queries = QueryService(
        ports, components.metrics_store, components.query_history, bounds, components.replicas, lost.audit
    )
    return queries, ports


def _prefetch(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    queries: QueryService,
    ports: QueryPorts,
    policies: LivePolicies | None,
) -> Callable[[TableName], None]:
    """Returns what is to be called after each commit of an ingest."""
    if not settings.dynamic_filtering_enabled or not settings.dynamic_filtering_prefetched_sets:
        metrics.watch(PrefetchCollector(lambda: dict.fromkeys(PrefetchOutcome, 0)))
        return lambda _table: None
    prefetch = start_prefetch(settings, components, ports, queries, clock, is_governed=policies is not None)
    metrics.watch(PrefetchCollector(lambda: prefetch.outcomes))
    return prefetch.committed


def _browser(settings: Settings, components: Components, clock: Clock) -> CatalogBrowser:
    return CatalogBrowser(
        components.catalog_names,
        components.all_catalogs,
        BoundedContents(SparkContents(lambda: components.engine.session)),
        BoundedViews(SparkViews(lambda: components.engine.session), settings.catalog_facts_timeout_s),
        components.probe_values,
        clock,
    )


def _lineage(settings: Settings, components: Components, clock: Clock, metrics: QueryMetrics) -> Lineage:
    if settings.lineage_url is None:
        return NoLineage()
    # Most gateways do not use it, and importing it takes a moment.
    from api.bootstrap.wiring.build_lineage import build_lineage

    return build_lineage(settings, components, clock, metrics.lineage, settings.lineage_url)
