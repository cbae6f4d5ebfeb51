"""Metrics that export every number there is, as those of a gateway with one catalog do."""

from __future__ import annotations

import os

from service.adapters.telemetry.admission_metrics import GroupCollector
from service.adapters.telemetry.audit_collector import AuditCollector
from service.adapters.telemetry.disk_collector import DiskCollector, DiskRoom
from service.adapters.telemetry.engine_collector import EngineCollector
from service.adapters.telemetry.filter_cache_collector import FilterCacheCollector
from service.adapters.telemetry.part_collector import PartCollector
from service.adapters.telemetry.policy_collector import PolicyCollector
from service.adapters.telemetry.prefetch_collector import PrefetchCollector
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.record_collector import RecordCollector, RecordsUse
from service.adapters.telemetry.refresh_collector import RefreshCollector
from service.adapters.telemetry.reuse_collector import ReuseCollector
from service.adapters.telemetry.stream_metrics import StreamCollector
from service.model.audit.events import AuditUse
from service.model.ingest.stream_standing import StreamStanding
from service.model.ingest.streams import StreamState
from service.model.operations.caller_classes import CallerClasses
from service.model.operations.engine_signs import EngineLoss, EngineSigns, JvmSample
from service.model.operations.health import PartHealth, PartState
from service.model.operations.resource_groups import GroupUse, one_group_per_caller
from service.model.operations.usage import CacheUse, PoolUse
from service.model.policies.signs import Outcome, PolicySigns
from service.model.query.prefetch import PrefetchOutcome
from service.model.query.refresh import RefreshOutcome
from service.model.query.reuse import ReuseOutcome

PARTS = ("engine", "queryWorkers", "metricsStore", "filterCache", "catalog:lake")
POOLS = (
    *("query_workers", "plannings", "planners", "metrics_store", "query_history"),
    *("ingest_log", "commit_rounds", "ingest_history", "streams", "maintenance"),
)
CACHES = ("filter_keys", "tables", "column_values", "reusable_results", "refreshable_states")
EVICTING = ("kept_rows", "table_files", "manifest_entries", "key_tuples", "kept_plans", "row_group_counts")
STORES = ("local_relations", "results", "formatted_results", "spooled_bodies")
GROUPS = one_group_per_caller(running=7, long_running=5, per_caller=6, long_per_caller=4, max_queued=1000)
SIGNS = EngineSigns(
    dict.fromkeys(EngineLoss, 0),
    0.5,
    JvmSample(512 << 20, 1 << 30, 200 << 20, 1 << 30, 16 << 20, 90, 1_500),
    0.01,
    os.getpid(),
)


def watched_metrics(classes: CallerClasses | None = None, signs: EngineSigns = SIGNS) -> QueryMetrics:
    """Returns the metrics of a gateway without faults."""
    metrics = QueryMetrics(classes)
    parts = [PartHealth(part, PartState.UP) for part in PARTS]
    metrics.watch(PartCollector(lambda: parts))
    metrics.watch(DiskCollector(lambda: DiskRoom(40 << 30, 100 << 30)))
    metrics.watch(EngineCollector(lambda: signs))
    metrics.watch(FilterCacheCollector(lambda: {"REFUSED": 0, "NO_ANSWER": 0}))
    metrics.watch(AuditCollector(lambda: AuditUse(0, 10_000)))
    metrics.watch(RecordCollector(lambda: RecordsUse(0, 10_000, 0)))
    metrics.watch(ReuseCollector(lambda: dict.fromkeys(ReuseOutcome, 0)))
    metrics.watch(RefreshCollector(lambda: dict.fromkeys(RefreshOutcome, 0)))
    metrics.watch(PrefetchCollector(lambda: dict.fromkeys(PrefetchOutcome, 0)))
    metrics.watch(PolicyCollector(lambda: PolicySigns(1, 0.5, dict.fromkeys(Outcome, 0))))
    metrics.watch(StreamCollector(lambda: StreamStanding(dict.fromkeys(StreamState, 0))))
    metrics.admission.know(GROUPS)
    metrics.watch(GroupCollector(lambda: [GroupUse("global.${USER}", 0, 1)]))
    for pool in POOLS:
        metrics.pools.add(pool, lambda: PoolUse(1, 8))
    for cache in CACHES:
        metrics.caches.add(cache, lambda: CacheUse(1, 100, 1_000, 3, 1))
    for cache in EVICTING:
        metrics.caches.add(cache, lambda: CacheUse(1, 100, 1_000, 3, 1, 2))
    for store in STORES:
        metrics.caches.add(store, lambda: CacheUse(1, 100, 1_000))
    return metrics
