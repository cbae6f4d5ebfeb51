"""Combines sums over scans and filters by table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row

from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.history import NOTHING, TablePruning
from service.model.query.scan_metrics import Selection


def table_prunings(scans: Sequence[Row[Any]], filters: Sequence[Row[Any]]) -> Sequence[TablePruning]:
    """Returns one entry for each table in either of them, ordered by name."""
    scanned = {row.table_name: row for row in scans}
    tables = sorted({row.table_name for row in (*scans, *filters)})
    return [_pruning(table, scanned.get(table), _of(table, filters)) for table in tables]


def _of(table: str, filters: Iterable[Row[Any]]) -> list[Row[Any]]:
    return [row for row in filters if row.table_name == table]


def _pruning(table: str, scanned: Row[Any] | None, filters: Sequence[Row[Any]]) -> TablePruning:
    reasons: Counter[Reason] = Counter()
    sources: Counter[FilterSource] = Counter()
    for row in filters:
        reasons[Reason(row.reason)] += row.filters
        sources[FilterSource(row.source)] += row.filters
    return TablePruning(
        table=table,
        query_count=scanned.queries if scanned else 0,
        scan_count=scanned.scans if scanned else 0,
        data_files=_selection(scanned, "data_files"),
        bytes=_selection(scanned, "bytes"),
        filters_by_reason=dict(reasons),
        filters_by_source=dict(sources),
        collection_ms=int(sum(row.collection_ms for row in filters)),
    )


def _selection(scanned: Row[Any] | None, level: str) -> Selection:
    if scanned is None:
        return NOTHING
    # The sum of bigints is a numeric.
    values = scanned._mapping
    return Selection(int(values[f"{level}_total"]), int(values[f"{level}_selected"]))
