"""A resource group in force: its counts, its budgets, and the queries that wait in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Generic, TypeVar

from service.model.operations.resource_groups import (
    GroupPath,
    QueryClass,
    ResourceGroup,
    ResourceGroups,
    WhenExhausted,
    group_name,
)
from service.model.query.priority import Priority
from service.query.admission.fair_share import FairShare
from service.query.admission.quota import Quota

K = TypeVar("K", bound=Hashable)


class Stage(Enum):
    """Where a query is on its way to the engine."""

    RESERVED = auto()
    UNPLANNED = auto()
    PLANNING = auto()
    WAITING = auto()
    RUNNING = auto()
    ENDED = auto()


@dataclass(slots=True, eq=False)
class Ticket(Generic[K]):
    """One query that is open.

    `is_parked`: it was planned and has to wait, and its worker leaves it now. `is_planned`: its class is
    known from its own plan, not from that of an earlier query. `number` is its place among all queries:
    they count up in the order in which queries came, and queries of one caller may exchange them. `came` is
    the number that it had first.
    """

    key: K
    caller: str
    leaf: GroupNode[K]
    number: int
    came_ms: int
    priority: Priority = Priority.NORMAL
    came: int = field(init=False)
    stage: Stage = Stage.RESERVED
    query_class: QueryClass = QueryClass.LONG
    selected_bytes: int = 0
    started_ms: int = 0
    is_parked: bool = False
    is_planned: bool = False
    is_removed: bool = False

    def __post_init__(self) -> None:
        self.came = self.number


class GroupNode(Generic[K]):
    """One group in force. `configured` is the path of its configuration; the top has none.

    All counts are of the queries in it and in the groups below it.
    """

    def __init__(
        self,
        spec: ResourceGroup,
        groups: ResourceGroups,
        path: GroupPath = (),
        configured: GroupPath = (),
        parent: GroupNode[K] | None = None,
    ) -> None:
        self.spec = spec
        self.path = path
        self.configured = configured
        self.parent = parent
        # By the configured name and the caller's: a caller may be named like another group.
        self.children: dict[tuple[str, str], GroupNode[K]] = {}
        self.open = 0
        self.prioritized = 0
        self.planning = 0
        self.planned_at = 0
        self.running = dict.fromkeys(QueryClass, 0)
        self.waiting = dict.fromkeys(QueryClass, 0)
        self.unplanned_count = 0
        self.planned_ahead = dict.fromkeys(Priority, 0)
        self.lines: dict[QueryClass, dict[int, Ticket[K]]] = {of: {} for of in QueryClass}
        self.unplanned: dict[int, Ticket[K]] = {}
        self.shares = {of: FairShare(spec.scheduling_weight) for of in QueryClass}
        self.turns_at = dict.fromkeys(QueryClass, 0.0)
        self.contending: dict[QueryClass, dict[GroupNode[K], None]] = {of: {} for of in QueryClass}
        self.cpu = _quota(spec.hard_cpu_limit_ms, groups.cpu_quota_period_ms)
        self.scanned = _quota(spec.hard_scan_limit_bytes, groups.scan_quota_period_ms)

    @property
    def name(self) -> str:
        """Its path, as people write it."""
        return group_name(self.path)

    @property
    def running_count(self) -> int:
        """How many of its queries run."""
        return sum(self.running.values())

    def upward(self) -> Iterator[GroupNode[K]]:
        """Yields this group and those around it, the top last."""
        node: GroupNode[K] | None = self
        while node is not None:
            yield node
            node = node.parent

    def is_exhausted(self, now_ms: int) -> bool:
        """Whether a budget of its own is used up."""
        return any(quota.is_exhausted(now_ms) for quota in self.quotas())

    def quota_wait_ms(self, now_ms: int) -> int:
        """Returns how long its own budgets stay used up."""
        return max((quota.wait_ms(now_ms) for quota in self.quotas()), default=0)

    def quotas(self) -> tuple[Quota, ...]:
        """Returns its budgets."""
        return tuple(quota for quota in (self.cpu, self.scanned) if quota is not None)

    def refuses(self, now_ms: int) -> bool:
        """Whether new queries are refused since a budget is used up."""
        return self.spec.when_exhausted is WhenExhausted.REFUSE and self.is_exhausted(now_ms)

    def may_run(self, query_class: QueryClass, now_ms: int) -> bool:
        """Whether its own limits let one more query of this class run."""
        is_long = query_class is QueryClass.LONG
        limit = self.spec.concurrency_limit(query_class)
        return (
            self.running_count < self.spec.hard_concurrency_limit
            and not (is_long and self.running[QueryClass.LONG] >= limit)
            and not self.is_exhausted(now_ms)
        )


def _quota(limit: int | None, period_ms: int) -> Quota | None:
    return None if limit is None else Quota(limit, period_ms)
