"""The in-memory history of a metrics store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from service.errors import MetricsStoreDown
from service.model.query.history import QueryListing, QuerySummary, TablePruning, summary_of
from service.model.query.pruning import PruningMetrics, Selection
from service.model.query.query import QueryRecord
from tests.fakes.metrics_store import FakeMetricsStore


class FakeQueryHistory:
    def __init__(self, store: FakeMetricsStore) -> None:
        self._store = store

    def queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        own = [each for each in self._records() if each.caller == listing.caller]
        shown = [summary_of(each, each.queued_ms + each.planning_ms + each.running_ms) for each in own]
        newest_first = sorted(shown, key=lambda each: each.position, reverse=True)
        return [each for each in newest_first if listing.takes(each)][: listing.limit]

    def pruning(self, since: datetime, table: str | None) -> Sequence[TablePruning]:
        records = [each for each in self._records() if each.submitted_at >= since]
        names = {scan.table for each in records for scan in each.scans}
        names |= {str(one.probe.table) for each in records for one in each.filters}
        return [_pruning(name, records) for name in sorted(names) if table in (None, name)]

    def _records(self) -> list[QueryRecord]:
        if self._store.is_down:
            raise MetricsStoreDown()
        return self._store.records


def _pruning(table: str, records: Sequence[QueryRecord]) -> TablePruning:
    scans = [(each.query_id, scan.metrics) for each in records for scan in each.scans if scan.table == table]
    filters = [one for each in records for one in each.filters if str(one.probe.table) == table]
    return TablePruning(
        table=table,
        query_count=len({query_id for query_id, _ in scans}),
        scan_count=len(scans),
        data_files=_sum("data_files", [metrics for _, metrics in scans]),
        bytes=_sum("bytes", [metrics for _, metrics in scans]),
        filters_by_reason=dict(Counter(each.reason for each in filters)),
        filters_by_source=dict(Counter(each.source for each in filters)),
        collection_ms=sum(each.collection_ms for each in filters),
    )


def _sum(level: str, metrics: Sequence[PruningMetrics]) -> Selection:
    selections: list[Selection] = [getattr(each, level) for each in metrics]
    return Selection(sum(each.total for each in selections), sum(each.selected for each in selections))
