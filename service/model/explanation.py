"""What the gateway can say of a query afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service.model.pruning import ScanRecord
from service.model.query import QueryError, QueryState


@dataclass(frozen=True, slots=True)
class Explanation:
    """The SQL, the engine's plans, and every scan as *selected of total*."""

    query_id: UUID
    sql: str
    state: QueryState
    error: QueryError | None
    scans: tuple[ScanRecord, ...]
    spark_plan: str
    queued_ms: int
    planning_ms: int
    running_ms: int
