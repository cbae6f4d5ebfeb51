"""Adds a query's data to its trace."""

from __future__ import annotations

from datetime import datetime

from service.model.query.query import QueryRecord
from service.query.registry.query_handle import QueryHandle
from service.tracing import Span

_MICROSECOND_NS = 1_000


def waited(span: Span, query: QueryHandle, until: datetime) -> None:
    """Adds the finished step in which the query waited for its caller's turn."""
    if span.is_recorded:
        began_ns, ended_ns = _nanoseconds(query.record.submitted_at), _nanoseconds(until)
        span.past("sluice.query.queue", began_ns, ended_ns, {"sluice.caller": query.caller})


def reported(span: Span, record: QueryRecord) -> None:
    """Adds how the query ended, and what it read."""
    if not span.is_recorded:
        return
    span.note(
        {
            "sluice.query_id": str(record.query_id),
            "sluice.caller": record.caller,
            "sluice.state": record.state.value,
            "sluice.rows": record.row_count,
            "sluice.tables": list(dict.fromkeys(scan.table for scan in record.scans)),
            "sluice.filters.applied": sum(filter_record.is_applied for filter_record in record.filters),
            "sluice.scans.bytes.total": sum(scan.metrics.bytes.total for scan in record.scans),
            "sluice.scans.bytes.selected": sum(scan.metrics.bytes.selected for scan in record.scans),
            "db.query.text": record.sql,
        }
    )
    if record.error is not None:
        span.fail(record.error.code)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * _MICROSECOND_NS
