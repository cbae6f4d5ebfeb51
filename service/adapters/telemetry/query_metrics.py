"""Counts events in this process, from its start."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

from service.adapters.lineage.lineage_metrics import RegisteredLineageMetrics
from service.adapters.telemetry.admission_metrics import RegisteredAdmissionMetrics
from service.adapters.telemetry.cache_collector import CacheCollector
from service.adapters.telemetry.guarded import Guarded
from service.adapters.telemetry.ingest_metrics import RegisteredIngestMetrics
from service.adapters.telemetry.maintenance_metrics import RegisteredMaintenanceMetrics
from service.adapters.telemetry.pool_collector import PoolCollector
from service.adapters.telemetry.query_times import QueryTimes
from service.adapters.telemetry.stream_metrics import RegisteredStreamMetrics
from service.adapters.telemetry.vital_metrics import VitalMetrics
from service.caches import Caches
from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterSource
from service.model.operations.caller_classes import CallerClasses
from service.model.operations.health import Vitals
from service.model.query.query import QueryRecord, QueryState
from service.model.query.scan_metrics import Selection
from service.model.query.verification import Verification

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class QueryMetrics:
    """The `Metrics` port, with a registry that all other metrics here share. Thread-safe.

    Collectors added by `watch` are read at each `exposition`, and must not block.
    """

    def __init__(self, classes: CallerClasses | None = None) -> None:
        # In this text format the creation time of a series is not used, and would be half of the output.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = CollectorRegistry()
        self._registry = registry
        self._classes = classes or CallerClasses()
        self.admission = RegisteredAdmissionMetrics(registry)
        self.ingests = RegisteredIngestMetrics(registry)
        self.lineage = RegisteredLineageMetrics(registry)
        self.streams = RegisteredStreamMetrics(registry)
        self.maintenances = RegisteredMaintenanceMetrics(registry)
        self.pools = PoolCollector()
        self.caches = Caches()
        self.watch(self.pools)
        self.watch(CacheCollector(self.caches))
        self._queries = _ended_queries(self._classes, registry)
        self._errors = Counter(
            "sluice_query_errors",
            "Queries that ended without a result, by error code.",
            ["code"],
            registry=registry,
        )
        self._open = Gauge(
            "sluice_queries_open",
            "Queries that wait or run now, by state.",
            ["state"],
            registry=registry,
        )
        self._vitals = VitalMetrics(registry)
        self._times = QueryTimes(registry, BOUNDS_S)
        self._verifications = _verifications(registry)
        self._filters = _Filters(registry)
        self._data_files = _Skipped("data_files", "Data files", registry)
        self._bytes = _Skipped("bytes", "Bytes of data files", registry)

    def watch(self, collector: Collector) -> None:
        """Adds the collector's numbers to the output."""
        self._registry.register(Guarded(collector))

    def count(self, record: QueryRecord) -> None:
        """Counts a query that has ended, with its filters and scans."""
        self._queries.labels(record.state.value, self._classes.of(record.caller)).inc()
        if record.error is not None:
            self._errors.labels(record.error.code).inc()
        self._times.observe(record)
        if record.verification is not None:
            self._verifications.labels(record.verification.value).inc()
        for filter_record in record.filters:
            self._filters.count(filter_record)
        # A query that reused a result scanned nothing.
        for scan in record.scans if record.reused is None else ():
            self._data_files.add(scan.metrics.data_files)
            self._bytes.add(scan.metrics.bytes)

    def exposition(self, open_queries: Mapping[QueryState, int], vitals: Vitals | None = None) -> bytes:
        """Returns all numbers as they are now."""
        if vitals is not None:
            self._vitals.set(vitals)
        for state, count in open_queries.items():
            self._open.labels(state.value).set(count)
        return generate_latest(self._registry)


def _ended_queries(classes: CallerClasses, registry: CollectorRegistry) -> Counter:
    queries = Counter(
        "sluice_queries",
        "Ended queries, by state and class of their caller.",
        ["state", "caller_class"],
        registry=registry,
    )
    for state, caller_class in product(filter(lambda state: state.is_final, QueryState), classes.names):
        queries.labels(state.value, caller_class)
    return queries


def _verifications(registry: CollectorRegistry) -> Counter:
    verifications = Counter(
        "sluice_verifications",
        "Queries with verification, by outcome.",
        ["outcome"],
        registry=registry,
    )
    for outcome in Verification:
        verifications.labels(outcome.value)
    return verifications


class _Filters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._filters = Counter(
            "sluice_filters",
            "Dynamic filters, by source and reason.",
            ["source", "reason"],
            registry=registry,
        )
        self._cache_hits = Counter(
            "sluice_filter_cache_hits", "Filters whose keys were cached.", registry=registry
        )
        self._collections = Histogram(
            "sluice_filter_collect_seconds",
            "Time to collect the keys of a filter.",
            buckets=BOUNDS_S,
            registry=registry,
        )

    def count(self, record: FilterRecord) -> None:
        self._filters.labels(record.source.value, record.reason.value).inc()
        if record.source is FilterSource.CACHED:
            self._cache_hits.inc()
        if record.source is FilterSource.COLLECTED:
            self._collections.observe(record.collection_ms / 1000)


class _Skipped:
    def __init__(self, name: str, unit: str, registry: CollectorRegistry) -> None:
        self._total = Counter(f"sluice_scan_{name}", f"{unit} of the scanned tables.", registry=registry)
        self._skipped = Counter(
            f"sluice_scan_{name}_skipped", f"{unit} that scans skipped.", registry=registry
        )

    def add(self, selection: Selection) -> None:
        self._total.inc(max(selection.total, 0))
        self._skipped.inc(max(selection.total - selection.selected, 0))
