"""What the gateway can say of a query afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from service.model.filters.filtering import FilterRecord
from service.model.query.pruning import ScanRecord
from service.model.query.query import QueryError, QueryState
from service.model.query.rewrites import RewriteRecord
from service.model.query.verification import Verification

PLANNED: Final = "PLANNED"
"""The state of a query that was planned and not run."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator of a plan, with what it works on and where its rows come from.

    `reference` says which mention of a table in the text a scan is, counted from 0. `reuse_id` marks a node
    that stands in more than one place of the plan: the other places refer to it.
    """

    operator: str
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    children: tuple[PlanNode, ...] = ()
    reference: int | None = None
    reuse_id: int | None = None


@dataclass(frozen=True, slots=True)
class QueryPlans:
    """The same query three times: as it was asked, with its filters, and with what is made only once.

    Source: the three parts of FLIP-248's EXPLAIN.
    """

    abstract_syntax_tree: PlanNode
    optimized_physical: PlanNode
    optimized_execution: PlanNode


@dataclass(frozen=True, slots=True)
class Explanation:
    """The SQL, every candidate filter, the plans, and every scan as *selected of total*.

    `plans` is None when the text cannot be read as a tree. A query that was only planned has no id; its scans
    are told as the plan has them, so what of their rows was read is not known. `trace_id` is that of the
    request that sent it; None: nobody traced it.
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

    @property
    def has_run(self) -> bool:
        """Whether its scans tell what was read, and not what would be."""
        return self.state != PLANNED

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will be known of it."""
        return not isinstance(self.state, QueryState) or self.state.is_final
