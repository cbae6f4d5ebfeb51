"""Wires the reuse of results."""

from __future__ import annotations

import json
from hashlib import sha256

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.reuse import ReuseResults
from api.bootstrap.version import version_of
from service.adapters.reuse.bounded_view_states import BoundedViewStates
from service.adapters.reuse.local_index import LocalResultIndex
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.reuse_collector import ReuseCollector
from service.model.query.reuse import ReuseChoice
from service.ports.clock import Clock
from service.ports.stores.query_store import Journal
from service.ports.stores.result_store import ResultStore
from service.ports.telemetry.lineage import Lineage
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
) -> Reuse:
    """Returns the reuse of results, or none if the operator does not want it."""
    if settings.reuse_results is ReuseResults.NEVER:
        return NoReuse()
    ports = ReusePorts(
        facts=components.engine,
        views=BoundedViewStates(
            SparkViewStates(lambda: components.engine.session), settings.catalog_facts_timeout_s
        ),
        catalogs=components.all_catalogs,
        index=LocalResultIndex(settings.reuse_max_entries, settings.reuse_max_bytes),
        results=results,
        journal=journal,
        clock=clock,
        lineage=lineage,
    )
    is_always = settings.reuse_results is ReuseResults.ALWAYS
    bounds = ReuseBounds(
        default=ReuseChoice.USE if is_always else ReuseChoice.NEVER,
        max_age_ms=settings.reuse_max_age_s * 1000,
        max_result_bytes=settings.reuse_max_result_bytes,
        settings=engine_fingerprint(components.spark_settings),
    )
    reuse = ResultReuse(ports, bounds)
    metrics.caches.add("reusable_results", lambda: reuse.use)
    metrics.watch(ReuseCollector(lambda: reuse.outcomes))
    return reuse


def engine_fingerprint(settings: SparkSettings) -> str:
    """Returns a text that is the same for engines that read a text alike."""
    properties = spark_properties(settings)
    read = {name: value for name, value in properties.items() if name.startswith("spark.sql.")}
    versions = [version_of(), version_of("pyspark")]
    return sha256(json.dumps([versions, read], sort_keys=True).encode()).hexdigest()
