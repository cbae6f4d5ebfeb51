"""Brings the parts together: besides `api.wiring_ingests`, the only file that names concrete adapters."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path

import migrations
from api.settings import Settings
from api.wiring_ingests import build_ingests
from service.adapters.bounded_views import BoundedViews
from service.adapters.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.embedded_postgres import EmbeddedPostgres
from service.adapters.embedded_valkey import EmbeddedValkey
from service.adapters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.journal import BufferedJournal
from service.adapters.key_collector import ArrowKeyCollector
from service.adapters.metered_journal import MeteredJournal
from service.adapters.meters import RecordMeters
from service.adapters.metrics_store import PostgresMetricsStore
from service.adapters.probe_values import ManifestProbeValues
from service.adapters.query_history import PostgresQueryHistory
from service.adapters.result_store import LocalResultStore
from service.adapters.session_catalog import CATALOG as SESSION_CATALOG
from service.adapters.session_catalog import CatalogsWithSession
from service.adapters.spark_catalog_properties import spark_catalog_properties
from service.adapters.tpcds.loader import LoadReport as LoadReport
from service.adapters.tpcds.loader import Progress as Progress
from service.adapters.tpcds.loader import load_tpcds
from service.adapters.tpcds.schemas import STAR_TABLES as STAR_TABLES
from service.adapters.tpcds.schemas import table_schemas
from service.errors import CannotStart, MetricsStoreDown
from service.gateway import Gateway, GatewayBounds
from service.model.relations import RelationBounds
from service.model.rewrites import RewriteKind
from service.ports import Catalogs, Clock
from service.pruning.form import FormBounds
from service.query.collect import Collector
from service.query.detections import DetectionBounds, Detections
from service.query.engine_keys import EngineKeys
from service.query.local_relations import LocalRelations
from service.query.prune import Pruner, PruningBounds
from service.query.rewrite import RewriteBounds
from service.query.run import QueryPorts
from spark_session.engine import SparkEngine
from spark_session.engine_relations import EngineRelations
from spark_session.jars import check_java, resolve
from spark_session.parquet_tables import ParquetTable
from spark_session.session_tables import SparkSessionTables
from spark_session.settings import SparkSettings
from spark_session.views import SparkViews

EMBEDDED_CATALOG = "lake"
RELATION_FETCHERS = 2
TPCDS_PACKAGES = ("io.trino.tpcds:tpcds:1.4", "io.airlift:airline:0.8")


def build_gateway(settings: Settings) -> Gateway:
    """Starts every part, and returns once a real query has run.

    Raises:
        CannotStart: a part cannot start; those that had started are stopped again.
    """
    check_java()
    stack = ExitStack()
    try:
        gateway = _gateway(settings, _Parts(settings, stack))
        # What is there now stays for good: the collector, which stops everything, need not look at it again.
        gc.collect()
        gc.freeze()
        return gateway
    except BaseException:
        stack.close()
        raise


def load_demo_data(
    settings: Settings, schema: str, scale: float, tables: Sequence[str], tell: Callable[[Progress], None]
) -> LoadReport:
    """Puts TPC-DS tables into the default catalog; without names, all of them.

    Raises:
        CannotStart: what the load stands on cannot start, or the disk is full.
        CallerError: the tables or the scale are not possible, or the schema holds other data.
    """
    java = check_java()
    with ExitStack() as stack:
        parts = _Parts(settings, stack)
        jars = resolve(TPCDS_PACKAGES, parts.folder("jars"))
        catalog = parts.catalogs.pyiceberg(settings.default_catalog)
        wanted = tables or tuple(table_schemas())
        return load_tpcds(catalog, schema, scale, wanted, jars, java, parts.folder("tpcds"), tell)


def migrate(settings: Settings) -> None:
    """Brings the metrics store's schema to what this version needs.

    Raises:
        MetricsStoreDown: it does not answer.
        CannotStart: the embedded one cannot start.
    """
    with ExitStack() as stack:
        migrations.upgrade(_Parts(settings, stack).metrics_store_url)


@dataclass(frozen=True)
class _Parts:
    """Each part starts when it is first asked for, and is stopped by the stack in reverse order."""

    settings: Settings
    stack: ExitStack

    def folder(self, name: str) -> Path:
        path = self.settings.data_dir.expanduser().absolute() / name
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotStart(
                f"The folder {path} cannot be made ({error.strerror}): set SLUICE_DATA_DIR to one that can."
            ) from error
        return path

    @cached_property
    def postgres(self) -> EmbeddedPostgres:
        server = EmbeddedPostgres.start(self.folder("postgres"))
        self.stack.callback(server.stop)
        return server

    @cached_property
    def metrics_store_url(self) -> str:
        given = self.settings.metrics_store_url
        return self.postgres.url("sluice") if given is None else given.get_secret_value()

    @cached_property
    def filter_cache_url(self) -> str:
        if self.settings.filter_cache_url is not None:
            return self.settings.filter_cache_url.get_secret_value()
        server = EmbeddedValkey.start(self.folder("valkey"), self.settings.filter_cache_max_bytes)
        self.stack.callback(server.stop)
        return server.url

    @cached_property
    def catalog_settings(self) -> Mapping[str, Mapping[str, str]]:
        if self.settings.catalogs:
            return self.settings.catalogs
        warehouse = self.folder("warehouse").as_uri()
        lake = {"type": "sql", "uri": self.postgres.url("lake"), "warehouse": warehouse}
        return {EMBEDDED_CATALOG: lake}

    @cached_property
    def catalogs(self) -> PyIcebergCatalogs:
        catalogs = PyIcebergCatalogs(
            self.catalog_settings, SystemClock(), kept_bytes=self.settings.catalog_cache_max_bytes
        )
        self.stack.callback(catalogs.close)
        return catalogs

    @cached_property
    def all_catalogs(self) -> Catalogs:
        """With the engine's own catalog, where the operator has anything in it."""
        if not self.spark_settings.has_session_tables:
            return self.catalogs
        return CatalogsWithSession(self.catalogs, SparkSessionTables(lambda: self.engine.session))

    @cached_property
    def catalog_names(self) -> frozenset[str]:
        own = {SESSION_CATALOG} if self.spark_settings.has_session_tables else set()
        return frozenset(self.catalog_settings.keys() | own)

    @cached_property
    def spark_settings(self) -> SparkSettings:
        return _spark_settings(self.settings, self)

    @cached_property
    def engine(self) -> SparkEngine:
        engine = SparkEngine(self.spark_settings)
        self.stack.callback(engine.close)
        engine.start()
        return engine

    @cached_property
    def migrated_store_url(self) -> str:
        _migrate_or_check(self.settings, self.metrics_store_url)
        return self.metrics_store_url

    @cached_property
    def metrics_store(self) -> PostgresMetricsStore:
        store = PostgresMetricsStore(self.migrated_store_url)
        self.stack.callback(store.close)
        return store

    @cached_property
    def query_history(self) -> PostgresQueryHistory:
        history = PostgresQueryHistory(self.metrics_store_url)
        self.stack.callback(history.close)
        return history

    @cached_property
    def filter_cache(self) -> RedisFilterCache:
        bounds = FilterCacheBounds(
            time_to_live=timedelta(seconds=self.settings.filter_cache_ttl_s),
            value_bytes=self.settings.filter_cache_value_bytes,
            local_bytes=self.settings.filter_cache_local_bytes,
        )
        cache = RedisFilterCache(self.filter_cache_url, SystemClock(), bounds)
        self.stack.callback(cache.close)
        return cache


def _gateway(settings: Settings, parts: _Parts) -> Gateway:
    clock = SystemClock()
    results = LocalResultStore(
        parts.folder("results"),
        clock,
        timedelta(seconds=settings.result_ttl_s),
        settings.result_max_bytes,
        settings.chunk_rows,
        settings.chunk_bytes,
    )
    parts.stack.callback(results.close)
    meters = RecordMeters()
    journal = BufferedJournal(
        parts.metrics_store,
        clock,
        timedelta(days=settings.metrics_retention_days),
        settings.metrics_buffer_records,
    )
    parts.stack.callback(journal.close)
    ports = QueryPorts(
        engine=parts.engine,
        catalogs=parts.all_catalogs,
        results=results,
        journal=MeteredJournal(journal, meters),
        clock=clock,
        pruner=_pruner(settings, parts, clock),
        max_sql_bytes=settings.max_sql_bytes,
        engine_retries=settings.engine_retries,
    )
    bounds = GatewayBounds(
        query_workers=settings.query_workers,
        max_queued_queries=settings.max_queued_queries,
        result_ttl_ms=settings.result_ttl_s * 1000,
        shutdown_timeout_s=settings.shutdown_timeout_s,
    )
    return Gateway(
        ports,
        parts.metrics_store,
        parts.filter_cache,
        parts.query_history,
        meters,
        build_ingests(settings, parts.catalogs, parts.migrated_store_url, clock, parts.stack),
        bounds,
        on_closed=parts.stack.close,
    )


def _pruner(settings: Settings, parts: _Parts, clock: Clock) -> Pruner:
    executor = ThreadPoolExecutor(settings.dynamic_filtering_collectors, thread_name_prefix="collector")
    parts.stack.callback(executor.shutdown, wait=False, cancel_futures=True)
    max_filter_bytes = settings.dynamic_filtering_max_filter_bytes
    collector = Collector(
        ArrowKeyCollector(
            parts.catalogs.opened, max_filter_bytes, settings.dynamic_filtering_max_collected_files
        ),
        EngineKeys(parts.engine, max_filter_bytes, settings.dynamic_filtering_max_ranges),
        parts.filter_cache,
        executor,
        clock,
        settings.dynamic_filtering_collect_timeout_s,
    )
    # Not the collectors': queries wait for keys, and nobody waits for these.
    fetchers = ThreadPoolExecutor(RELATION_FETCHERS, thread_name_prefix="relations")
    parts.stack.callback(fetchers.shutdown, wait=False, cancel_futures=True)
    readers = ThreadPoolExecutor(1, thread_name_prefix="probe-values")
    parts.stack.callback(readers.shutdown, wait=False, cancel_futures=True)
    probe_values = ManifestProbeValues(
        parts.catalogs.opened,
        readers,
        max_files=settings.dynamic_filtering_max_listed_files,
        kept_bytes=settings.dynamic_filtering_listing_max_bytes,
    )
    looked_for = DetectionBounds(
        max_build_rows=settings.dynamic_filtering_max_build_rows,
        catalog_names=parts.catalog_names,
        session={
            "timeZone": settings.session_time_zone,
            "maxFilterBytes": str(max_filter_bytes),
            "maxRanges": str(settings.dynamic_filtering_max_ranges),
        }
        | settings.spark_conf,
        max_relation_rows=settings.local_relation_max_rows,
        is_opening_views=RewriteKind.VIEW_OPENED in settings.rewrites,
    )
    views = BoundedViews(SparkViews(lambda: parts.engine.session))
    return Pruner(
        Detections(parts.all_catalogs, views, probe_values, clock, looked_for),
        probe_values,
        collector,
        LocalRelations(
            EngineRelations(parts.engine),
            fetchers,
            RelationBounds(settings.local_relation_max_rows, settings.local_relation_max_bytes),
        ),
        PruningBounds(
            is_enabled=settings.dynamic_filtering_enabled,
            min_table_bytes=settings.dynamic_filtering_min_table_bytes,
            form=FormBounds(
                max_in_list=settings.dynamic_filtering_max_in_list,
                max_ranges=settings.dynamic_filtering_max_ranges,
                max_bucketed_list=settings.dynamic_filtering_max_bucketed_list,
            ),
            rewrites=RewriteBounds(frozenset(settings.rewrites), parts.engine.slots),
        ),
    )


def _spark_settings(settings: Settings, parts: _Parts) -> SparkSettings:
    jars = settings.spark_jars or tuple(
        str(jar) for jar in resolve(settings.spark_packages, parts.folder("jars"))
    )
    properties: dict[str, str] = {}
    for name, catalog in parts.catalog_settings.items():
        properties |= spark_catalog_properties(name, catalog)
    return SparkSettings(
        master=settings.spark_master,
        jars=jars,
        log_dir=parts.folder("logs"),
        catalogs=properties,
        catalog_names=tuple(parts.catalog_settings),
        default_catalog=settings.default_catalog,
        driver_memory=settings.spark_driver_memory,
        time_zone=settings.session_time_zone,
        max_result_bytes=settings.max_byte_limit,
        max_relation_bytes=settings.local_relations_max_bytes,
        properties=_session_catalog_properties(settings, parts) | settings.spark_conf,
        parquet_tables={
            name: ParquetTable(each.location, each.partition_columns)
            for name, each in settings.parquet_tables.items()
        },
    )


def _session_catalog_properties(settings: Settings, parts: _Parts) -> dict[str, str]:
    """Spark makes a folder for each schema of its own catalog, though no table of ours lies there."""
    if not settings.parquet_tables:
        return {}
    return {"spark.sql.warehouse.dir": parts.folder("spark-warehouse").as_uri()}


def _migrate_or_check(settings: Settings, url: str) -> None:
    """The embedded store is ours to migrate; another one is its operator's."""
    if settings.metrics_store_url is None:
        migrations.upgrade(url)
        return
    try:
        is_current = migrations.is_current(url)
    except MetricsStoreDown:
        # Queries run without it; the records wait.
        return
    if not is_current:
        raise CannotStart("The metrics store's schema is not this version's: run `sluice migrate` first.")
