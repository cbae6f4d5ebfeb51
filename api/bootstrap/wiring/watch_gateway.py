"""Adds the state of the parts to the metrics."""

from __future__ import annotations

from functools import partial

from api.bootstrap.parts.components import Components
from service.adapters.telemetry.admission_metrics import GroupCollector
from service.adapters.telemetry.disk_collector import DiskCollector, disk_room
from service.adapters.telemetry.engine_collector import EngineCollector
from service.adapters.telemetry.filter_cache_collector import FilterCacheCollector
from service.adapters.telemetry.part_collector import PartCollector
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.sampled import Sampled
from service.gateway import Gateway


def watch_gateway(metrics: QueryMetrics, gateway: Gateway, parts: Components) -> None:
    """Begins to watch the parts and the disk in threads of its own, so that scrapes do not wait for them."""
    engine, filter_cache = parts.engine, parts.filter_cache
    looks = Sampled("parts", lambda: gateway.readiness().parts)
    room = Sampled("disk", partial(disk_room, parts.folder("")))
    for sampled in (looks, room):
        parts.stack.callback(sampled.close)
        sampled.start()
    metrics.watch(PartCollector(lambda: looks.latest))
    metrics.watch(DiskCollector(lambda: room.latest))
    metrics.watch(EngineCollector(engine.signs))
    metrics.watch(FilterCacheCollector(lambda: filter_cache.failures))
    metrics.watch(GroupCollector(gateway.queries.workers.group_use))
    for name, use in gateway.pools().items():
        metrics.pools.add(name, use)
    metrics.pools.add("metrics_store", lambda: parts.metrics_store.pool)
    metrics.pools.add("query_history", lambda: parts.query_history.pool)
    metrics.caches.add("filter_keys", lambda: filter_cache.cache_use)
    metrics.caches.add("tables", lambda: parts.catalogs.cache_use)
    metrics.caches.add("column_values", lambda: parts.manifest_values.cache_use)
    metrics.caches.add("local_relations", engine.relations_use)
    metrics.caches.add("kept_rows", engine.kept_rows_use)
    metrics.caches.add("table_files", engine.file_cache_use)
    metrics.caches.add("manifest_entries", engine.manifest_entries_use)
    metrics.caches.add("key_tuples", engine.tuple_sets_use)
    metrics.caches.add("kept_plans", engine.kept_plans_use)
