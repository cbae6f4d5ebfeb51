"""The in-memory history of a metrics store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from service.errors.unavailable import MetricsStoreDown
from service.model.query.history import (
    MAX_FREQUENT_BYTES,
    FilteringQuery,
    FrequentQuery,
    QueryListing,
    QuerySummary,
    TablePruning,
    summary_of,
)
from service.model.query.query import QueryRecord, QueryState
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from tests.fakes.metrics_store import FakeMetricsStore


class FakeQueryHistory:
    def __init__(self, store: FakeMetricsStore) -> None:
        self._store = store

    def queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        shown = [
            summary_of(record, record.queued_ms + record.planning_ms + record.running_ms)
            for record in self._records()
        ]
        newest_first = sorted(shown, key=lambda summary: summary.position, reverse=True)
        return [summary for summary in newest_first if listing.takes(summary)][: listing.limit]

    def pruning(self, since: datetime, table: str | None) -> Sequence[TablePruning]:
        records = [record for record in self._records() if record.submitted_at >= since]
        names = {scan.table for record in records for scan in record.scans}
        names |= {str(one.probe.table) for record in records for one in record.filters}
        return [_pruning(name, records) for name in sorted(names) if table in (None, name)]

    def frequent(self, since: datetime, limit: int, within_ms: int) -> Sequence[FrequentQuery]:
        ran = [
            record
            for record in sorted(self._records(), key=lambda record: record.submitted_at, reverse=True)
            if record.submitted_at >= since
            and record.state is QueryState.SUCCEEDED
            and record.reused is None
            and record.planning_ms + record.running_ms <= within_ms
            and len(record.sql.encode()) <= MAX_FREQUENT_BYTES
        ]
        # Equal counts stay in the order in which they were met: the newest first.
        counts = Counter(FrequentQuery(record.sql, record.catalog, record.schema) for record in ran)
        return [query for query, _ in counts.most_common(limit)]

    def scans(self, since: datetime, table: str, limit: int) -> Sequence[ScanRecord]:
        ran = [
            record
            for record in sorted(self._records(), key=lambda record: record.submitted_at, reverse=True)
            if record.submitted_at >= since and record.state is QueryState.SUCCEEDED and record.reused is None
        ]
        scans = [scan for record in ran for scan in record.scans if scan.table == table and scan.has_run]
        return [replace(scan, metrics=replace(scan.metrics, row_groups=None)) for scan in scans[:limit]]

    def filtering(self, since: datetime, limit: int, at_least: int) -> Sequence[FilteringQuery]:
        counts: Counter[tuple[FrequentQuery, tuple[str, ...]]] = Counter()
        for record in sorted(self._records(), key=lambda record: record.submitted_at, reverse=True):
            if record.submitted_at < since or record.state is not QueryState.SUCCEEDED:
                continue
            if len(record.sql.encode()) <= MAX_FREQUENT_BYTES:
                asked = FrequentQuery(record.sql, record.catalog, record.schema)
                applied = [one for one in record.filters if one.is_applied]
                counts.update({(asked, tuple(map(str, one.build.tables))) for one in applied})
        listed = [FilteringQuery(*found, count) for found, count in counts.most_common() if count >= at_least]
        return listed[:limit]

    def _records(self) -> list[QueryRecord]:
        if self._store.is_down:
            raise MetricsStoreDown()
        return self._store.records


def _pruning(table: str, records: Sequence[QueryRecord]) -> TablePruning:
    scans = [
        (record.query_id, scan.metrics)
        for record in records
        if record.reused is None
        for scan in record.scans
        if scan.table == table
    ]
    filters = [one for record in records for one in record.filters if str(one.probe.table) == table]
    return TablePruning(
        table=table,
        query_count=len({query_id for query_id, _ in scans}),
        scan_count=len(scans),
        data_files=_sum("data_files", [metrics for _, metrics in scans]),
        bytes=_sum("bytes", [metrics for _, metrics in scans]),
        filters_by_reason=dict(Counter(filter_.reason for filter_ in filters)),
        filters_by_source=dict(Counter(filter_.source for filter_ in filters)),
        collection_ms=sum(filter_.collection_ms for filter_ in filters),
    )


def _sum(level: str, metrics: Sequence[PruningMetrics]) -> Selection:
    selections: list[Selection] = [getattr(metric, level) for metric in metrics]
    return Selection(
        sum(selection.total for selection in selections), sum(selection.selected for selection in selections)
    )
