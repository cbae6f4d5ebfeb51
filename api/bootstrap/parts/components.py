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

from api.bootstrap.parts.build_spark_settings import build_engine_bounds, build_spark_settings
from api.bootstrap.parts.migrate_or_check import migrate_or_check
from api.bootstrap.settings import Settings
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.session_catalog import CATALOG as SESSION_CATALOG
from service.adapters.catalogs.session_catalog import CatalogsWithSession
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
from service.model.query.replicas import Replica
from service.ports.tables.catalogs import Catalogs
from service.query.filtering.asked_requests import AskedRequests
from service.query.filtering.collector_threads import CollectorThreads
from spark_session.engine.engine import SparkEngine
from spark_session.engine.session_catalog_tables import SparkSessionTables
from spark_session.settings.settings import SparkSettings

EMBEDDED_CATALOG = "lake"

_log = structlog.get_logger(__name__)
# Threads for each catalog that read the values in the files of tables.
MANIFEST_READERS = 4
# Requests whose key sets are collected again after commits.
ASKED_BYTES = 8 << 20


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
    def collectors(self) -> CollectorThreads:
        """The threads that collect the keys of filters."""
        threads = CollectorThreads(self.settings.dynamic_filtering_collectors)
        self.stack.callback(threads.shutdown, wait=False, cancel_futures=True)
        return threads

    @cached_property
    def asked_requests(self) -> AskedRequests:
        """The requests whose filters were used lately."""
        return AskedRequests(SystemClock(), ASKED_BYTES)

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
        return build_spark_settings(self.settings, self.catalog_settings, self.jars_folder, self.folder)

    @cached_property
    def engine(self) -> SparkEngine:
        """The engine, after it has run a real query."""
        settings = self.spark_settings
        _say("Starting Spark")
        engine = SparkEngine(settings, build_engine_bounds(self.settings))
        self.stack.callback(engine.close)
        engine.start()
        return engine

    @cached_property
    def migrated_store_url(self) -> str:
        """The URL of the metrics store, once it has the tables that this version needs."""
        migrate_or_check(self.settings, self.metrics_store_url)
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
