"""The parts that the gateway uses, each started on first use."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from socket import gethostname
from uuid import uuid4

import structlog

import migrations
from api.bootstrap.parts.build_admission import pools_file
from api.bootstrap.parts.find_jars import engine_jars
from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.resource_groups import resource_groups
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.session_catalog import CATALOG as SESSION_CATALOG
from service.adapters.catalogs.session_catalog import CatalogsWithSession
from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.adapters.catalogs.store_region import with_region
from service.adapters.clock import SystemClock
from service.adapters.disk.synced_files import not_synced, sync_files
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.adapters.postgres.query_records.query_history import PostgresQueryHistory
from service.adapters.postgres.query_records.replicas import PostgresReplicas
from service.adapters.probe_values.listed_values import ListedValues
from service.adapters.probe_values.probe_values import ManifestProbeValues
from service.errors.gateway_error import CannotStart
from service.errors.unavailable import MetricsStoreDown
from service.model.query.replicas import Replica
from service.ports.tables.catalogs import Catalogs
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.engine.engine import SparkEngine
from spark_session.engine.session_catalog_tables import SparkSessionTables
from spark_session.jars.compiled_classes import compiled_classes
from spark_session.settings.parquet_tables import ParquetTable
from spark_session.settings.settings import SparkSettings
from spark_session.supervision.verdict import EngineBounds

EMBEDDED_CATALOG = "lake"

_log = structlog.get_logger(__name__)
# Threads for each catalog that read the values in the files of tables.
MANIFEST_READERS = 4


@dataclass(frozen=True, kw_only=True)
class Components:
    """Starts each part on first use; the stack stops the parts in reverse order."""

    settings: Settings
    stack: ExitStack

    def folder(self, name: str) -> Path:
        """Returns a folder of this gateway's own, and creates it if necessary.

        Raises:
            CannotStart: it cannot be created.
        """
        path = self.settings.data_dir.expanduser().absolute() / name
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotStart(
                f"The folder {path} cannot be created ({error.strerror}): set SLUICE_DATA_DIR to"
                " another folder."
            ) from error
        return path

    @cached_property
    def jars_folder(self) -> Path:
        """The folder that jars are looked for in and fetched to."""
        given = self.settings.jars_dir
        return self.folder("jars") if given is None else given.expanduser().absolute()

    @cached_property
    def postgres(self) -> EmbeddedPostgres:
        """The embedded PostgreSQL server."""
        _say("Starting PostgreSQL")
        server = EmbeddedPostgres.start(self.folder("postgres"))
        self.stack.callback(server.stop)
        return server

    @cached_property
    def metrics_store_url(self) -> str:
        """The URL of the operator's metrics store, or of the embedded one."""
        given = self.settings.metrics_store_url
        return self.postgres.url("sluice") if given is None else given.get_secret_value()

    @cached_property
    def filter_cache_url(self) -> str:
        """The URL of the operator's filter cache, or of the embedded one."""
        if self.settings.filter_cache_url is not None:
            return self.settings.filter_cache_url.get_secret_value()
        _say("Starting Valkey")
        server = EmbeddedValkey.start(self.folder("valkey"), self.settings.filter_cache_max_bytes)
        self.stack.callback(server.stop)
        return server.url

    @cached_property
    def catalog_settings(self) -> Mapping[str, Mapping[str, str]]:
        """The operator's catalogs, with the embedded one if there are none or it is wanted beside them."""
        given = {name: with_region(catalog) for name, catalog in self.settings.catalogs.items()}
        if given and not self.settings.embedded_catalog:
            self._warn_of_hidden_lake(given)
            return given
        warehouse = self.folder("warehouse").as_uri()
        lake = {"type": "sql", "uri": self.postgres.url("lake"), "warehouse": warehouse}
        return {EMBEDDED_CATALOG: lake} | given

    def _warn_of_hidden_lake(self, given: Mapping[str, Mapping[str, str]]) -> None:
        warehouse = self.settings.data_dir.expanduser().absolute() / "warehouse"
        if EMBEDDED_CATALOG not in given and warehouse.exists() and any(warehouse.iterdir()):
            _log.warning(
                "embedded_catalog_not_served", catalog=EMBEDDED_CATALOG, cure="set embedded_catalog to true"
            )

    @cached_property
    def catalogs(self) -> PyIcebergCatalogs:
        """All configured catalogs, through PyIceberg."""
        catalogs = PyIcebergCatalogs(
            self.catalog_settings,
            SystemClock(),
            facts_timeout_s=self.settings.catalog_facts_timeout_s,
            max_cached_bytes=self.settings.catalog_cache_max_bytes,
            sync=sync_files if self.settings.ingest_fsync else not_synced,
            engine_faults=lambda: self.engine.catalog_faults(),
        )
        self.stack.callback(catalogs.close)
        return catalogs

    @cached_property
    def all_catalogs(self) -> Catalogs:
        """All catalogs, with the engine's own if the operator has tables in it."""
        if not self.spark_settings.has_session_tables:
            return self.catalogs
        own = SparkSessionTables(
            lambda: self.engine.session,
            self.probe_values.listed,
            self.settings.dynamic_filtering_max_listed_files,
        )
        return CatalogsWithSession(self.catalogs, own, self.settings.catalog_facts_timeout_s)

    @cached_property
    def probe_values(self) -> ListedValues:
        """The values in the columns of all tables. Tables without snapshots get half of the memory."""
        return ListedValues(self.manifest_values, self._listed_bytes)

    @cached_property
    def manifest_values(self) -> ManifestProbeValues:
        """The values in the columns of tables with snapshots."""
        # Started first, so that they are stopped after the readers that use them.
        catalogs = self.catalogs
        readers = {name: self._readers(name) for name in self.catalog_settings}
        return ManifestProbeValues(
            catalogs.opened,
            readers.__getitem__,
            max_files=self.settings.dynamic_filtering_max_listed_files,
            max_cached_bytes=self.settings.dynamic_filtering_listing_max_bytes - self._listed_bytes,
        )

    @property
    def _listed_bytes(self) -> int:
        has_session_tables = self.spark_settings.has_session_tables
        return self.settings.dynamic_filtering_listing_max_bytes // 2 if has_session_tables else 0

    def _readers(self, catalog: str) -> Executor:
        # A catalog that hangs delays its own tables only.
        readers = ThreadPoolExecutor(MANIFEST_READERS, thread_name_prefix=f"probe-values-{catalog}")
        self.stack.callback(readers.shutdown, wait=False, cancel_futures=True)
        return readers

    @cached_property
    def catalog_names(self) -> frozenset[str]:
        """The valid first parts of a table's name."""
        own = {SESSION_CATALOG} if self.spark_settings.has_session_tables else set()
        return frozenset(self.catalog_settings.keys() | own)

    @cached_property
    def spark_settings(self) -> SparkSettings:
        """The settings of the warm session."""
        return _spark_settings(self.settings, self)

    @cached_property
    def engine(self) -> SparkEngine:
        """The engine, after it has run a real query."""
        settings = self.spark_settings
        _say("Starting Spark")
        engine = SparkEngine(settings, _engine_bounds(self.settings))
        self.stack.callback(engine.close)
        engine.start()
        return engine

    @cached_property
    def migrated_store_url(self) -> str:
        """The URL of the metrics store, once it has the tables that this version needs."""
        _migrate_or_check(self.settings, self.metrics_store_url)
        return self.metrics_store_url

    @cached_property
    def metrics_store(self) -> PostgresQueryStore:
        """The store of query records."""
        store = PostgresQueryStore(self.migrated_store_url)
        self.stack.callback(store.close)
        return store

    @cached_property
    def query_history(self) -> PostgresQueryHistory:
        """The history of queries, read from their records."""
        history = PostgresQueryHistory(self.metrics_store_url)
        self.stack.callback(history.close)
        return history

    @cached_property
    def replicas(self) -> PostgresReplicas:
        """This gateway's presence among the replicas. Its id is new with each start."""
        replicas = PostgresReplicas(self.migrated_store_url, Replica(uuid4(), gethostname()))
        self.stack.callback(replicas.close)
        return replicas

    @cached_property
    def filter_cache(self) -> RedisFilterCache:
        """The cache of keys that queries share."""
        bounds = FilterCacheBounds(
            time_to_live=timedelta(seconds=self.settings.filter_cache_ttl_s),
            value_bytes=self.settings.filter_cache_value_bytes,
            local_bytes=self.settings.filter_cache_local_bytes,
            answer_within_s=self.settings.filter_cache_answer_ms / 1000,
        )
        cache = RedisFilterCache(self.filter_cache_url, SystemClock(), bounds)
        self.stack.callback(cache.close)
        return cache


def _say(step: str) -> None:
    """Logs a step of the start, for those who wait for it."""
    _log.info("starting", step=step)


def _spark_settings(settings: Settings, components: Components) -> SparkSettings:
    properties: dict[str, str] = {}
    for name, catalog in components.catalog_settings.items():
        properties |= spark_catalog_properties(name, catalog)
    groups = resource_groups(settings.resource_groups)
    return SparkSettings(
        master=settings.spark_master,
        jars=tuple(map(str, _jars(settings, components))),
        log_dir=components.folder("logs"),
        catalogs=properties,
        catalog_names=tuple(components.catalog_settings),
        default_catalog=settings.default_catalog,
        driver_memory=settings.spark_driver_memory,
        time_zone=settings.session_time_zone,
        max_result_bytes=settings.max_byte_limit,
        max_relation_bytes=settings.local_relations_max_bytes,
        max_hash_relation_bytes=settings.hash_relations_max_bytes,
        bounds=_query_bounds(settings),
        properties=_session_catalog_properties(settings, components) | settings.spark_conf,
        parquet_tables={
            name: ParquetTable(table.location, table.partition_columns)
            for name, table in settings.parquet_tables.items()
        },
        pools_file=pools_file(settings, components.folder("logs")),
        counts_cpu=groups is not None and groups.counts_cpu,
    )


def _engine_bounds(settings: Settings) -> EngineBounds:
    return EngineBounds(
        probe_interval_s=settings.engine_probe_interval_s,
        probe_timeout_s=settings.engine_probe_timeout_s,
        unresponsive_s=settings.engine_unresponsive_s,
        grace_s=settings.engine_grace_s,
        max_given_up=settings.engine_max_given_up,
        given_up_timeout_s=settings.engine_given_up_timeout_s,
        quarantine_s=settings.engine_quarantine_s,
        max_collection_percent=settings.engine_max_collection_percent,
        collection_window_s=settings.engine_collection_window_s,
    )


def _query_bounds(settings: Settings) -> QueryBounds:
    return QueryBounds(
        value_bytes=settings.max_value_bytes,
        row_copies=settings.max_row_copies,
        partitions=settings.max_partitions,
        tasks=settings.max_query_tasks,
        view_depth=settings.max_view_depth,
        batch_rows=settings.max_read_batch_rows,
        min_split_bytes=settings.min_read_split_bytes,
    )


def _jars(settings: Settings, components: Components) -> tuple[Path, ...]:
    _say("Resolving Spark's jars")
    jars = engine_jars(
        settings,
        components.catalog_settings.values(),
        components.jars_folder,
        is_reading_kafka=bool(settings.stream_kafka_servers),
    )
    return (*jars, compiled_classes(jars, components.jars_folder))


def _session_catalog_properties(settings: Settings, components: Components) -> dict[str, str]:
    """Spark creates a folder for each schema of its own catalog, though the gateway has no tables there."""
    if not settings.parquet_tables:
        return {}
    return {"spark.sql.warehouse.dir": components.folder("spark-warehouse").as_uri()}


def _migrate_or_check(settings: Settings, url: str) -> None:
    """Migrates the embedded store; an operator's own store is only checked."""
    if settings.metrics_store_url is None:
        migrations.upgrade(url)
        return
    try:
        revisions = migrations.revisions(url)
    except MetricsStoreDown:
        # Queries run without it, and their records wait.
        return
    if revisions.is_newer:
        _log.warning("schema_is_newer", found=revisions.found, needed=revisions.needed)
    if not revisions.is_usable:
        raise CannotStart(
            "The schema of the metrics store is of another version: run `sluice migrate` first."
        )
