"""The explanation of a query, after it ran or was planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from service.model.filters.filter_record import FilterRecord
from service.model.query.progress import QueryProgress
from service.model.query.query import QueryError, QueryState
from service.model.query.reuse import Reused
from service.model.query.rewrites import RewriteRecord
from service.model.query.scan_metrics import ScanRecord
from service.model.query.verification import Verification

PLANNED: Final = "PLANNED"
"""The state of a query that was planned and not run."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator of a plan, with its inputs and the operators that its rows come from.

    `reference` is the ordinal of the table reference that a scan reads, counted from 0. `reuse_id` marks a
    node that occurs in several places of the plan: the other places refer to it.
    """

    operator: str
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    children: tuple[PlanNode, ...] = ()
    reference: int | None = None
    reuse_id: int | None = None


@dataclass(frozen=True, slots=True)
class QueryPlans:
    """Three plans of the same query: as asked, with its filters, and with repeated parts made only once.

    Source: the three parts of FLIP-248's EXPLAIN.
    """

    abstract_syntax_tree: PlanNode
    optimized_physical: PlanNode
    optimized_execution: PlanNode


@dataclass(frozen=True, slots=True)
class Explanation:
    """The SQL, every candidate filter, the plans, and every scan as *selected of total*.

    `plans` is None when the text cannot be parsed. A query that was only planned has no id. Its scans are
    reported as planned, so the number of rows that they read is unknown. `trace_id` is that of the request
    that sent the query; None if it was not traced. `applied` are the names of applied policies, if known.
    `progress` is None unless the query runs here, `reused` unless an earlier result answered it. `catalog`
    and `schema` are those of names without one.
    """

    query_id: UUID | None
    sql: str
    state: QueryState | Literal["PLANNED"]
    error: QueryError | None
    scans: tuple[ScanRecord, ...]
    spark_plan: str
    queued_ms: int
    planning_ms: int
    running_ms: int
    rewritten_sql: str | None = None
    filters: tuple[FilterRecord, ...] = ()
    parse_ms: int = 0
    detect_ms: int = 0
    filters_ms: int = 0
    plans: QueryPlans | None = None
    rewrites: tuple[RewriteRecord, ...] = ()
    verification: Verification | None = None
    trace_id: str | None = None
    applied: tuple[str, ...] | None = None
    progress: QueryProgress | None = None
    reused: Reused | None = None
    catalog: str | None = None
    schema: str | None = None

    @property
    def has_run(self) -> bool:
        """Whether the scans report what was read, not what would be read."""
        return self.state != PLANNED

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will become known about the query."""
        return not isinstance(self.state, QueryState) or self.state.is_final
