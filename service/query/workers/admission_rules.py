"""The operator's rules of admission, and the group that they give a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from service.model.operations.resource_groups import (
    USER,
    GroupPath,
    QueryClass,
    ResourceGroups,
    group_name,
    one_group_per_caller,
)
from service.query.admission.select_group import select_group
from service.query.admission.slot_bounds import SlotBounds
from service.query.execution.admitting_engine import QUERIES_POOL

SHORT_POOL = "short"


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Resource groups and slots. `has_pools`: each configured group has a scheduler's pool of its own."""

    groups: ResourceGroups
    bounds: SlotBounds
    has_pools: bool = False

    def group_of(self, caller: str, roles: Collection[str], tags: Mapping[str, str]) -> GroupPath:
        """Returns the configured path of the query's group; the last one's where no selector matches."""
        found = select_group(self.groups.selectors, caller, roles, tags)
        return self.groups.selectors[-1].group if found is None else found

    def pool_of(self, group: GroupPath, query_class: QueryClass) -> str:
        """Returns the scheduler's pool for the jobs of such a query."""
        if query_class is QueryClass.SHORT:
            return SHORT_POOL
        return pool_name(group) if self.has_pools else QUERIES_POOL


def pool_name(group: GroupPath) -> str:
    """Returns the name of a configured group's pool.

    >>> pool_name(("global", "${USER}"))
    'queries.global.each'
    """
    return f"{QUERIES_POOL}.{group_name(group).replace(USER, 'each')}"


def default_rules(bounds: SlotBounds) -> AdmissionRules:
    """Returns one group for each caller, all with the same weight; no caller takes the last slot."""
    groups = one_group_per_caller(
        running=bounds.long_slots + bounds.short_slots,
        long_running=bounds.long_slots,
        per_caller=max(1, bounds.long_slots + bounds.short_slots - 1),
        long_per_caller=max(1, bounds.long_slots - 1),
        max_queued=bounds.max_queued,
    )
    return AdmissionRules(groups, bounds)


def slots_for(workers: int, max_queued: int) -> SlotBounds:
    """Returns slots for so many queries of one caller, and one more; none are kept for short queries."""
    return SlotBounds(long_slots=workers + 1, planners=workers + 1, max_queued=max_queued)


def pool_shares(groups: ResourceGroups) -> Mapping[str, float]:
    """Returns the share of each pool: that of its group among its siblings, times that of the group around.

    >>> groups = one_group_per_caller(
    ...     running=4, long_running=4, per_caller=3, long_per_caller=3, max_queued=10
    ... )
    >>> pool_shares(groups)
    {'queries.global.each': 1.0}
    """
    shares: dict[GroupPath, float] = {(): 1.0}
    siblings: dict[GroupPath, int] = defaultdict(int)
    walked = list(groups.walk())
    for path, group in walked:
        siblings[path[:-1]] += group.scheduling_weight
    for path, group in walked:
        shares[path] = shares[path[:-1]] * group.scheduling_weight / siblings[path[:-1]]
    return {pool_name(path): shares[path] for path, group in walked if not group.sub_groups}
