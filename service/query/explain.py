"""What can be said of a query once it has left its record."""

from __future__ import annotations

from service.model.explanation import Explanation
from service.model.query import QueryRecord


def explain(record: QueryRecord) -> Explanation:
    """The record as an explanation."""
    return Explanation(
        query_id=record.query_id,
        sql=record.sql,
        state=record.state,
        error=record.error,
        scans=record.scans,
        spark_plan=record.spark_plan,
        queued_ms=record.queued_ms,
        planning_ms=record.planning_ms,
        running_ms=record.running_ms,
    )
