"""Counts what passes, in this process, from its start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock

from service.adapters.histogram import Histogram
from service.model.filtering import FilterRecord, FilterSource, Reason
from service.model.meters import MeterFamily, MeterKind, Sample
from service.model.pruning import Selection
from service.model.query import QueryRecord, QueryState

FINAL_STATES = tuple(each for each in QueryState if each.is_final)


class RecordMeters:
    """The `Meters` port. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queries = Counter(dict.fromkeys(FINAL_STATES, 0))
        self._durations = Histogram()
        self._filters: Counter[tuple[FilterSource, Reason]] = Counter()
        self._collections = Histogram()
        self._data_files = _Skipped()
        self._bytes = _Skipped()

    def count(self, record: QueryRecord) -> None:
        """Counts a query that has ended, with its filters and scans."""
        with self._lock:
            self._queries[record.state] += 1
            self._durations.observe(record.queued_ms + record.planning_ms + record.running_ms)
            for each in record.filters:
                self._count_filter(each)
            for scan in record.scans:
                self._data_files.add(scan.metrics.data_files)
                self._bytes.add(scan.metrics.bytes)

    def families(self) -> Sequence[MeterFamily]:
        """All numbers as they are now."""
        with self._lock:
            return (*self._of_queries(), *self._of_filters(), *self._of_scans())

    def _count_filter(self, record: FilterRecord) -> None:
        self._filters[record.source, record.reason] += 1
        if record.source is FilterSource.COLLECTED:
            self._collections.observe(record.collection_ms)

    def _of_queries(self) -> Iterator[MeterFamily]:
        states = [Sample(count, {"state": state.value}) for state, count in self._queries.items()]
        yield _counter("sluice_queries_total", "Queries that have ended, by their state.", states)
        yield MeterFamily(
            "sluice_query_duration_seconds",
            "From a query's submission to its end.",
            MeterKind.HISTOGRAM,
            self._durations.samples(),
        )

    def _of_filters(self) -> Iterator[MeterFamily]:
        samples = [Sample(count, _labels(*key)) for key, count in sorted(self._filters.items())]
        hits = sum(count for key, count in self._filters.items() if key[0] is FilterSource.CACHED)
        yield _counter("sluice_filters_total", "Dynamic filters, by source and reason.", samples)
        yield _counter(
            "sluice_filter_cache_hits_total", "Filters whose keys were cached.", [Sample(hits, {})]
        )
        yield MeterFamily(
            "sluice_filter_collect_seconds",
            "How long collecting a filter's keys took.",
            MeterKind.HISTOGRAM,
            self._collections.samples(),
        )

    def _of_scans(self) -> Iterator[MeterFamily]:
        for name, unit, skipped in (
            ("data_files", "Data files", self._data_files),
            ("bytes", "Bytes of data files", self._bytes),
        ):
            total, left_out = [Sample(skipped.total, {})], [Sample(skipped.skipped, {})]
            yield _counter(f"sluice_scan_{name}_total", f"{unit} of the tables that were scanned.", total)
            yield _counter(f"sluice_scan_{name}_skipped_total", f"{unit} that scans left out.", left_out)


class _Skipped:
    def __init__(self) -> None:
        self.total = 0
        self.skipped = 0

    def add(self, selection: Selection) -> None:
        self.total += selection.total
        self.skipped += max(selection.total - selection.selected, 0)


def _counter(name: str, meaning: str, samples: Sequence[Sample]) -> MeterFamily:
    return MeterFamily(name, meaning, MeterKind.COUNTER, samples)


def _labels(source: FilterSource, reason: Reason) -> Mapping[str, str]:
    return {"source": source.value, "reason": reason.value}
