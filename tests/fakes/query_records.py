"""Query records to write down."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from service.model.pruning import PruningMetrics, ScanRecord, Selection
from service.model.query import QueryError, QueryRecord, QueryState

SUBMITTED_AT = datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)


def short_record(submitted_at: datetime = SUBMITTED_AT) -> QueryRecord:
    return QueryRecord(uuid4(), "ann", "SELECT 1", QueryState.SUCCEEDED, submitted_at)


def full_record() -> QueryRecord:
    """A record in which no field has its default."""
    return QueryRecord(
        query_id=uuid4(),
        caller="ann",
        sql="SELECT 'ü', :year",
        state=QueryState.FAILED,
        submitted_at=SUBMITTED_AT,
        catalog="lake",
        schema="tpcds",
        request_id=uuid4(),
        fingerprint="ab" * 32,
        tags={"dashboard": "returns", "größe": "5"},
        error=QueryError("QUERY_FAILED", "Division by zero."),
        queued_ms=1,
        planning_ms=2,
        running_ms=3,
        row_count=4,
        byte_count=5 << 40,
        scans=(scan("lake.tpcds.store_returns", 2003, 366), scan("lake.tpcds.date_dim", 1, 1)),
        spark_plan="== Physical Plan ==\n…",
    )


def scan(table: str, total: int, selected: int) -> ScanRecord:
    metrics = PruningMetrics(
        partitions=Selection(total, selected),
        manifests=Selection(total * 2, selected * 2),
        data_files=Selection(total * 3, selected * 3),
        bytes=Selection(total << 40, selected << 40),
        rows=Selection(total * 5, selected * 5),
        planning_ms=12,
    )
    return ScanRecord(table, 2**63 - 1, metrics)
