"""Builds the gateway. Adapters are named only here, in `components`, and in modules named `wiring_…`."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import migrations
from api.bootstrap.components import Components
from api.bootstrap.masking import shown_statement
from api.bootstrap.settings import Settings
from api.bootstrap.settings.authorization import Authorization
from api.bootstrap.wiring_admission import admission_rules
from api.bootstrap.wiring_audit import build_audit
from api.bootstrap.wiring_authentication import build_api_keys, current_principals
from api.bootstrap.wiring_authorization import build_policies
from api.bootstrap.wiring_clocks import deletion_clock
from api.bootstrap.wiring_ingests import build_ingests
from api.bootstrap.wiring_jars import demo_jars, fetched_jars
from api.bootstrap.wiring_maintenance import build_maintenances
from api.bootstrap.wiring_metrics import watch_gateway
from api.bootstrap.wiring_refresh import build_refresh
from api.bootstrap.wiring_results import build_results
from api.bootstrap.wiring_reuse import build_reuse
from api.bootstrap.wiring_sessions import build_sessions, own_settings
from api.bootstrap.wiring_stores import await_given_stores, await_metrics_store
from api.bootstrap.wiring_streams import ReadStream, build_streams, large_inputs
from service.adapters.catalogs.bounded_contents import BoundedContents
from service.adapters.catalogs.bounded_views import BoundedViews
from service.adapters.clock import SystemClock
from service.adapters.demo_data.log_table import make_log_table
from service.adapters.demo_data.tpcds.loader import LoadReport as LoadReport
from service.adapters.demo_data.tpcds.loader import Progress as Progress
from service.adapters.demo_data.tpcds.loader import load_tpcds
from service.adapters.demo_data.tpcds.tpcds_schemas import STAR_TABLES as STAR_TABLES
from service.adapters.demo_data.tpcds.tpcds_schemas import table_schemas
from service.adapters.keys.key_carrier import ArrowKeyCarrier, CarryBounds
from service.adapters.keys.key_collector import ArrowKeyCollector
from service.adapters.lineage.lineage_journal import LineageJournal
from service.adapters.processes.bounded_processes import BoundedProcesses
from service.adapters.telemetry.buffered_journal import BufferedJournal
from service.adapters.telemetry.metered_journal import MeteredJournal
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.record_collector import RecordCollector
from service.audit.audit import Audit
from service.audit.query_events import AuditedJournal, LostQueries
from service.browsing.catalog_browser import CatalogBrowser
from service.gateway import Gateway, GatewayBounds
from service.ingest.ingest_service import IngestService
from service.ingest.streaming.creator_policies import CreatorPolicies
from service.ingest.streaming.stream_service import StreamService
from service.lineage_ports import Lineage, NoLineage
from service.maintenance.maintenance_service import MaintenanceService
from service.model.filters.relations import RelationBounds
from service.model.operations.caller_classes import CallerClasses
from service.model.query.rewrites import RewriteKind
from service.policy_ports import NoPolicies, Policies
from service.ports import BoundedCalls, Clock
from service.pruning.predicates.composite_predicate import TupleBounds
from service.pruning.predicates.form import FormBounds
from service.query.filtering.collect import CollectBounds, Collector
from service.query.filtering.detections import DetectionBounds, Detections
from service.query.filtering.engine_keys import EngineKeys
from service.query.filtering.local_relations import LocalRelations
from service.query.filtering.look_for_filters import ready
from service.query.filtering.prune import Pruner
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.rewrite import RewriteBounds
from service.query.lifecycle.presence import PresenceBounds
from service.query.lifecycle.run_query import QueryPorts
from service.query.query_service import QueryBounds, QueryService
from service.sessions.session_service import SessionService
from spark_session.engine.contents import SparkContents
from spark_session.engine.engine_relations import EngineRelations
from spark_session.engine.row_deltas import SparkRowDeltas
from spark_session.engine.table_maintenance import SparkTableMaintenance
from spark_session.engine.views import SparkViews
from spark_session.jars.compiled_classes import compiled_classes, ship_classes
from spark_session.jars.jars import check_java

RELATION_FETCHERS = 2
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


def load_demo_data(
    settings: Settings, schema: str, scale: float, tables: Sequence[str], report: Callable[[Progress], None]
) -> LoadReport:
    """Loads TPC-DS tables into the default catalog; without names, all of them.

    Raises:
        CannotStart: a part that the load needs cannot start, or the disk is full.
        CallerError: the tables or the scale are not valid, or the schema holds other data.
    """
    java = check_java()
    with ExitStack() as stack:
        components = Components(settings=settings, stack=stack)
        jars = demo_jars(components.jars_folder)
        catalog = components.catalogs.pyiceberg(settings.default_catalog)
        wanted = tables or tuple(table_schemas())
        return load_tpcds(catalog, schema, scale, wanted, jars, java, components.folder("tpcds"), report)


def make_demo_log(settings: Settings, name: str) -> None:
    """Creates the demo's log table in the default catalog, if it is missing.

    Raises:
        CannotStart: the catalog cannot start.
    """
    with ExitStack() as stack:
        make_log_table(
            Components(settings=settings, stack=stack).catalogs.pyiceberg(settings.default_catalog), name
        )


def fetch_jars(settings: Settings, *, is_all: bool) -> tuple[Path, ...]:
    """Fetches the jars that these settings need, or all that any settings may need. Starts no part.

    Raises:
        CannotStart: a jar cannot be fetched or stored.
    """
    with ExitStack() as stack:
        return fetched_jars(settings, Components(settings=settings, stack=stack).jars_folder, is_all=is_all)


def compile_classes(settings: Settings, *, is_for_wheel: bool = False) -> Path:
    """Compiles the Java classes of the engine unless that was done, and returns their jar. Starts no part.

    With `is_for_wheel`, the jar is put where a wheel takes it from.

    Raises:
        CannotStart: a jar cannot be fetched or stored, or the classes do not fit the jars.
    """
    with ExitStack() as stack:
        into = Components(settings=settings, stack=stack).jars_folder
        jars = fetched_jars(settings, into, is_all=False)
        return ship_classes(jars, into) if is_for_wheel else compiled_classes(jars, into)


def migrate(settings: Settings, revision: str | None = None) -> None:
    """Migrates the metrics store's schema to what this version needs, or to another revision.

    Raises:
        MetricsStoreDown: the store did not answer in time.
        CannotStart: the embedded store cannot start, or the revision is not known.
    """
    await_metrics_store(settings)
    with ExitStack() as stack:
        url = Components(settings=settings, stack=stack).metrics_store_url
        if revision is None:
            migrations.upgrade(url)
        else:
            migrations.bring_to(url, revision)


def _gateway(settings: Settings, components: Components, read_stream: ReadStream) -> Gateway:
    clock = SystemClock()
    metrics = QueryMetrics(CallerClasses(settings.caller_classes))
    # Closed last, so that it receives everything that ends.
    lineage = _lineage(settings, components, clock, metrics)
    audit = build_audit(settings, components, clock, metrics)
    sessions = build_sessions(settings, components)
    queries = _queries(settings, components, clock, metrics, lineage, audit, sessions)
    ingests = _ingests(settings, components, clock, metrics, lineage, audit)
    policy_service = build_policies(settings, components, metrics)
    api_keys = build_api_keys(components) if settings.api_keys else None
    policies = CreatorPolicies(
        policy_service.live or NoPolicies(), current_principals(settings, api_keys, clock).now
    )
    streams = _streams(settings, components, clock, metrics, ingests, policies, read_stream)
    gateway = Gateway(
        queries=queries,
        ingests=ingests,
        maintenances=_maintenances(settings, components, clock, metrics, lineage),
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
    )
    watch_gateway(metrics, gateway, components)
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
) -> IngestService:
    return build_ingests(
        settings,
        components.catalogs,
        SparkRowDeltas(lambda: components.engine.session),
        components.migrated_store_url,
        components.folder("spool"),
        large_inputs(settings, components.engine),
        clock,
        components.stack,
        metrics,
        lineage,
        audit.trail,
    )


def _streams(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    ingests: IngestService,
    policies: Policies,
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
) -> QueryService:
    bounds = QueryBounds(
        workers=settings.query_workers,
        max_queued=settings.max_queued_queries,
        result_ttl_ms=settings.result_ttl_s * 1000,
        presence=PresenceBounds(
            interval_s=settings.replica_heartbeat_interval_s, lost_after_s=settings.replica_lost_after_s
        ),
        admission=(rules := admission_rules(settings)),
    )
    metrics.admission.know(rules.groups)
    ports = replace(
        _query_ports(settings, components, clock, metrics, lineage, audit),
        sessions=sessions,
        own_settings=own_settings(settings),
    )
    lost = LostQueries(components.metrics_store, audit.trail, shown_statement(settings))
    return QueryService(
        ports, components.metrics_store, components.query_history, bounds, components.replicas, lost.audit
    )


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
    from api.bootstrap.wiring_lineage import build_lineage

    return build_lineage(settings, components, clock, metrics.lineage, settings.lineage_url)


def _query_ports(
    settings: Settings,
    components: Components,
    clock: Clock,
    metrics: QueryMetrics,
    lineage: Lineage,
    audit: Audit,
) -> QueryPorts:
    results = build_results(settings, components, clock)
    components.stack.callback(results.close)
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
    metrics.pools.add("planners", lambda: calls.use)
    audited = AuditedJournal(
        LineageJournal(MeteredJournal(journal, metrics), lineage), audit.trail, shown_statement(settings)
    )
    pruner = _pruner(settings, components, clock, calls)
    return QueryPorts(
        engine=components.engine,
        describer=components.engine,
        catalogs=components.all_catalogs,
        results=results,
        written=results,
        files=results,
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
        reuse=build_reuse(settings, components, results, audited, clock, lineage, metrics),
        refresh=build_refresh(settings, components, pruner, calls, clock, lineage, metrics),
        has_policies=settings.authorization is Authorization.POLICIES,
    )


def _pruner(settings: Settings, components: Components, clock: Clock, calls: BoundedCalls) -> Pruner:
    collector = _collector(settings, components, clock)
    relations = _local_relations(settings, components)
    views = BoundedViews(SparkViews(lambda: components.engine.session), settings.catalog_facts_timeout_s)
    bounds = _detection_bounds(settings, components.catalog_names)
    return Pruner(
        Detections(components.all_catalogs, views, components.probe_values, clock, bounds, calls),
        collector,
        relations,
        _pruning_bounds(settings, components.engine.slots),
    )


def _collector(settings: Settings, components: Components, clock: Clock) -> Collector:
    executor = ThreadPoolExecutor(settings.dynamic_filtering_collectors, thread_name_prefix="collector")
    components.stack.callback(executor.shutdown, wait=False, cancel_futures=True)
    max_filter_bytes = settings.dynamic_filtering_max_filter_bytes
    return Collector(
        ArrowKeyCollector(
            components.catalogs.opened, max_filter_bytes, settings.dynamic_filtering_max_collected_files
        ),
        EngineKeys(components.engine, max_filter_bytes, settings.dynamic_filtering_max_ranges),
        components.filter_cache,
        executor,
        clock,
        CollectBounds(
            wait_s=settings.dynamic_filtering_collect_timeout_s,
            collect_s=settings.dynamic_filtering_max_collection_s,
        ),
        ArrowKeyCarrier(
            components.catalogs.opened,
            CarryBounds(
                max_snapshots=settings.dynamic_filtering_max_carried_commits,
                max_files=settings.dynamic_filtering_max_collected_files,
                max_filter_bytes=max_filter_bytes,
            ),
        ),
    )


def _local_relations(settings: Settings, components: Components) -> LocalRelations:
    # Separate from the collectors' threads: queries wait for keys, but not for these.
    fetchers = ThreadPoolExecutor(RELATION_FETCHERS, thread_name_prefix="relations")
    components.stack.callback(fetchers.shutdown, wait=False, cancel_futures=True)
    return LocalRelations(
        EngineRelations(components.engine),
        fetchers,
        RelationBounds(
            max_rows=settings.local_relation_max_rows, max_bytes=settings.local_relation_max_bytes
        ),
    )


def _detection_bounds(settings: Settings, catalog_names: frozenset[str]) -> DetectionBounds:
    return DetectionBounds(
        max_build_rows=settings.dynamic_filtering_max_build_rows,
        catalog_names=catalog_names,
        session={
            "timeZone": settings.session_time_zone,
            "maxFilterBytes": str(settings.dynamic_filtering_max_filter_bytes),
            "maxRanges": str(settings.dynamic_filtering_max_ranges),
        }
        | settings.spark_conf,
        max_relation_rows=settings.local_relation_max_rows,
        is_expanding_views=RewriteKind.VIEW_EXPANDED in settings.rewrites,
        max_manifest_ms=round(1000 * settings.dynamic_filtering_manifest_timeout_s),
        max_tree_bytes=settings.dynamic_filtering_texts_max_bytes,
    )


def _pruning_bounds(settings: Settings, slots: int) -> PruningBounds:
    return PruningBounds(
        is_enabled=settings.dynamic_filtering_enabled,
        min_table_bytes=settings.dynamic_filtering_min_table_bytes,
        form=FormBounds(
            max_in_list=settings.dynamic_filtering_max_in_list,
            max_ranges=settings.dynamic_filtering_max_ranges,
            max_listed=settings.dynamic_filtering_max_listed_keys,
        ),
        tuples=TupleBounds(
            max_parts=settings.dynamic_filtering_max_tuple_alternatives,
            max_values=settings.dynamic_filtering_max_tuple_values,
        ),
        rewrites=RewriteBounds(kinds=frozenset(settings.rewrites), slots=slots),
    )
