"""Resource groups: which queries share which limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

USER = "${USER}"
"""In a group's name: the caller's name, so that each caller has a group of its own."""
ROOT = "global"
HOUR_MS = 3_600_000

GroupPath = tuple[str, ...]
"""The names of a group and the groups around it, the outermost first."""


class QueryClass(StrEnum):
    """How much a query is expected to read."""

    SHORT = "short"
    LONG = "long"


class WhenExhausted(StrEnum):
    """The rule for new queries of a group whose budget is exhausted."""

    QUEUE = "QUEUE"
    REFUSE = "REFUSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """The limits of one group, and its sub-groups. A group has sub-groups, or takes queries, never both.

    Limits hold for all queries of a group and of its sub-groups together. `long_concurrency_limit` bounds
    those of the running queries that are long; None: they have no bound of their own. `hard_cpu_limit_ms` and
    `hard_scan_limit_bytes` are for one period of the budgets; None: unlimited.
    """

    name: str
    hard_concurrency_limit: int
    max_queued: int
    long_concurrency_limit: int | None = None
    scheduling_weight: int = 1
    hard_cpu_limit_ms: int | None = None
    hard_scan_limit_bytes: int | None = None
    when_exhausted: WhenExhausted = WhenExhausted.QUEUE
    sub_groups: tuple[ResourceGroup, ...] = ()

    def concurrency_limit(self, query_class: QueryClass) -> int:
        """Returns how many queries of this class run at once at most.

        >>> group = ResourceGroup(
        ...     name="etl", hard_concurrency_limit=8, max_queued=100, long_concurrency_limit=6
        ... )
        >>> group.concurrency_limit(QueryClass.LONG), group.concurrency_limit(QueryClass.SHORT)
        (6, 8)
        """
        if query_class is QueryClass.SHORT or self.long_concurrency_limit is None:
            return self.hard_concurrency_limit
        return min(self.long_concurrency_limit, self.hard_concurrency_limit)

    def walk(self, above: GroupPath = ()) -> Iterator[tuple[GroupPath, ResourceGroup]]:
        """Yields this group and all below it, each with its path."""
        path = (*above, self.name)
        yield path, self
        for group in self.sub_groups:
            yield from group.walk(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which queries a group takes: those that match all of it.

    `user` is a caller's name, or the beginning of names and `*`. `roles`: the caller has one of them; empty:
    it may have any. `tags`: the query has all of these tags; the value `*` matches any value.
    """

    group: GroupPath
    user: str = "*"
    roles: frozenset[str] = frozenset()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroups:
    """All groups, and the selectors in their order: the first one that matches a query counts."""

    root_groups: tuple[ResourceGroup, ...]
    selectors: tuple[Selector, ...]
    cpu_quota_period_ms: int = HOUR_MS
    scan_quota_period_ms: int = HOUR_MS

    @property
    def counts_cpu(self) -> bool:
        """Whether any group has a budget of CPU time."""
        return any(group.hard_cpu_limit_ms is not None for _, group in self.walk())

    def walk(self) -> Iterator[tuple[GroupPath, ResourceGroup]]:
        """Yields every group with its path."""
        for group in self.root_groups:
            yield from group.walk()


@dataclass(frozen=True, slots=True)
class GroupUse:
    """How many queries of a configured group wait and run now; groups of single callers count together."""

    group: str
    queued: int
    running: int


def group_name(path: GroupPath) -> str:
    """Returns the path as people write it.

    >>> group_name(("global", "adhoc", "ann"))
    'global.adhoc.ann'
    """
    return ".".join(path)


def one_group_per_caller(
    *, running: int, long_running: int, per_caller: int, long_per_caller: int, max_queued: int
) -> ResourceGroups:
    """Returns the default: one root group, and in it a group of the same weight for each caller."""
    callers = ResourceGroup(
        name=USER,
        hard_concurrency_limit=per_caller,
        long_concurrency_limit=long_per_caller,
        max_queued=max_queued,
    )
    root = ResourceGroup(
        name=ROOT,
        hard_concurrency_limit=running,
        long_concurrency_limit=long_running,
        # The gateway's own bound is the tighter one; it lets each caller have one query beyond it.
        max_queued=2 * max_queued,
        sub_groups=(callers,),
    )
    return ResourceGroups(root_groups=(root,), selectors=(Selector(group=(ROOT, USER)),))
