"""Wires the reuse of results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.reuse import ReuseResults
from api.bootstrap.version import version_of
from service.adapters.filters.cache_connection import CacheConnection
from service.adapters.reuse.bounded_view_states import BoundedViewStates
from service.adapters.reuse.local_index import LocalResultIndex
from service.adapters.reuse.run_leases import RedisRunLeases
from service.adapters.reuse.shared_index import RedisResultIndex, SharedIndexBounds
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.reuse_collector import ReuseCollector
from service.model.query.reuse import ReuseChoice
from service.ports.clock import Clock
from service.ports.stores.query_store import Journal
from service.ports.stores.result_store import ResultStore
from service.ports.stores.reusable_results import NoRunLeases, ViewStates
from service.ports.telemetry.lineage import Lineage
from service.query.registry.readable_results import ReadableResults
from service.query.reuse.result_reuse import ResultReuse
from service.query.reuse.reuse_lookup import ReuseBounds, ReusePorts
from service.query.reuse.reuse_steps import NoReuse, Reuse
from spark_session.engine.reuse_facts import SparkViewStates
from spark_session.settings.settings import SparkSettings, spark_properties


def build_reuse(
    settings: Settings,
    components: Components,
    results: ResultStore,
    journal: Journal,
    clock: Clock,
    lineage: Lineage,
    metrics: QueryMetrics,
    readable: ReadableResults,
    own_settings: Mapping[str, str],
) -> Reuse:
    """Returns the reuse of results, or none if the operator does not want it.

    `own_settings` are the engine's, as far as sessions may have others.
    """
    if settings.reuse_results is ReuseResults.NEVER:
        return NoReuse()
    local = LocalResultIndex(settings.reuse_max_entries, settings.reuse_max_bytes)
    shared = _shared(settings, components, clock)
    ports = ReusePorts(
        facts=components.engine,
        views=view_states(settings, components),
        catalogs=components.all_catalogs,
        index=local if shared is None else shared.index(local),
        results=results,
        readable=readable,
        journal=journal,
        clock=clock,
        lineage=lineage,
        leases=NoRunLeases() if shared is None else shared.leases,
    )
    is_always = settings.reuse_results is ReuseResults.ALWAYS
    bounds = ReuseBounds(
        default=ReuseChoice.USE if is_always else ReuseChoice.NEVER,
        max_age_ms=settings.reuse_max_age_s * 1000,
        max_result_bytes=settings.reuse_max_result_bytes,
        settings=engine_fingerprint(components.spark_settings),
        max_wait_ms=round(settings.reuse_shared_max_wait_s * 1000),
        own_settings=own_settings,
    )
    reuse = ResultReuse(ports, bounds)
    if shared is not None:
        reuse.start()
        components.stack.callback(reuse.close)
    metrics.caches.add("reusable_results", lambda: reuse.use, reuse.forget)
    metrics.watch(ReuseCollector(lambda: reuse.outcomes))
    return reuse


def view_states(settings: Settings, components: Components) -> ViewStates:
    """Returns what says which states views have."""
    views = SparkViewStates(lambda: components.engine.session)
    return BoundedViewStates(views, settings.catalog_facts_timeout_s)


@dataclass(frozen=True, slots=True)
class _Shared:
    """The parts that replicas with the same results share."""

    settings: Settings
    connection: CacheConnection
    store: str

    def index(self, local: LocalResultIndex) -> RedisResultIndex:
        """Returns the index of all replicas, with that of this one."""
        settings = self.settings
        bounds = SharedIndexBounds(
            time_to_live=timedelta(seconds=min(settings.reuse_max_age_s, settings.result_ttl_s)),
            entry_bytes=settings.reuse_shared_entry_bytes,
            max_entries=settings.reuse_shared_max_entries,
        )
        return RedisResultIndex(self.connection, self.store, local, bounds)

    @property
    def leases(self) -> RedisRunLeases:
        """The leases of all replicas."""
        return RedisRunLeases(self.connection, self.store)


def _shared(settings: Settings, components: Components, clock: Clock) -> _Shared | None:
    """Returns what this gateway shares with others: nothing, if they cannot read its results."""
    if settings.results_url is None or not settings.reuse_shared_max_entries:
        return None
    if settings.filter_cache_url is None:
        # The embedded server is this gateway's own.
        return None
    answer_within_s = settings.filter_cache_answer_ms / 1000
    connection = CacheConnection(components.filter_cache_url, clock, answer_within_s)
    components.stack.callback(connection.close)
    return _Shared(settings, connection, sha256(settings.results_url.encode()).hexdigest()[:16])


def engine_fingerprint(settings: SparkSettings) -> str:
    """Returns a text that is the same for engines that read a text alike.

    The folder of Spark's own catalog is each gateway's own, and has no table whose result is reused.
    """
    properties = spark_properties(settings)
    read = {
        name: value
        for name, value in properties.items()
        if name.startswith("spark.sql.") and name != "spark.sql.warehouse.dir"
    }
    versions = [version_of(), version_of("pyspark")]
    return sha256(json.dumps([versions, read], sort_keys=True).encode()).hexdigest()
