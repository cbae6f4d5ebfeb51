"""Resource groups for tests, and a simulated gateway that runs queries by a clock of its own."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field

from service.errors.query_errors import TooManyQueries
from service.model.operations.resource_groups import (
    USER,
    GroupPath,
    ResourceGroup,
    ResourceGroups,
    Selector,
    one_group_per_caller,
)
from service.model.query.planned_work import PlannedWork
from service.model.query.priority import Priority
from service.query.admission.scheduler import Scheduler
from service.query.admission.slot_bounds import SlotBounds

SHORT, LONG = PlannedWork(0), PlannedWork(1 << 40)
CALLERS: GroupPath = ("global", USER)
MANY = 1_000_000


def bounds(long_slots: int = 5, short_slots: int = 2, max_queued: int = 1000) -> SlotBounds:
    return SlotBounds(
        long_slots=long_slots,
        short_slots=short_slots,
        short_max_bytes=1 << 20,
        planners=long_slots,
        max_queued=max_queued,
    )


def equal_callers(slots: SlotBounds) -> ResourceGroups:
    return one_group_per_caller(
        running=slots.long_slots + slots.short_slots,
        long_running=slots.long_slots,
        per_caller=max(1, slots.long_slots + slots.short_slots - 1),
        long_per_caller=max(1, slots.long_slots - 1),
        max_queued=slots.max_queued,
    )


def flat_groups(*groups: ResourceGroup) -> ResourceGroups:
    selectors = tuple(Selector(group=(group.name,), user=group.name) for group in groups)
    return ResourceGroups(root_groups=groups, selectors=selectors)


@dataclass
class Simulation:
    """Queries that are planned at once, and that run for the time that they are given."""

    scheduler: Scheduler[int]
    now_ms: int = 0
    started: list[int] = field(default_factory=list)
    started_ms: dict[int, int] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    owners: dict[int, str] = field(default_factory=dict)
    _works: dict[int, tuple[PlannedWork, int]] = field(default_factory=dict)
    _ends: list[tuple[int, int]] = field(default_factory=list)

    def submit(
        self,
        caller: str,
        work: PlannedWork,
        lasts_ms: int = 1000,
        group: GroupPath = CALLERS,
        priority: Priority = Priority.NORMAL,
    ) -> int:
        key = len(self.owners)
        self.owners[key] = caller
        self._works[key] = work, lasts_ms
        try:
            self.scheduler.reserve(key, group, caller, self.now_ms, priority)
        except TooManyQueries:
            self.refused.add(key)
        else:
            self.scheduler.offer(key)
            self.settle()
        return key

    def settle(self) -> None:
        """Takes every turn that there is now."""
        while (key := self.scheduler.next(self.now_ms)) is not None:
            work, lasts_ms = self._works[key]
            if self.scheduler.planned(key, work, self.now_ms) is None:
                self.scheduler.release(key, self.now_ms)
                continue
            self.started.append(key)
            self.started_ms[key] = self.now_ms
            heapq.heappush(self._ends, (self.now_ms + lasts_ms, key))

    def end_next(self) -> bool:
        """Lets time pass until a query ends; returns False if none runs."""
        if not self._ends:
            return False
        self.now_ms, key = heapq.heappop(self._ends)
        self.scheduler.release(key, self.now_ms)
        self.ended.add(key)
        self.settle()
        return True

    def advance(self, ms: int) -> None:
        until_ms = self.now_ms + ms
        while self._ends and self._ends[0][0] <= until_ms:
            self.end_next()
        self.now_ms = until_ms
        self.settle()

    def is_long(self, key: int) -> bool:
        return self._works[key][0] is LONG

    def drain(self) -> None:
        while self.end_next():
            pass

    def running(self) -> Counter[str]:
        return Counter(self.owners[key] for _, key in self._ends)

    def starts(self) -> Counter[str]:
        return Counter(self.owners[key] for key in self.started)


def simulation(slots: SlotBounds, groups: ResourceGroups | None = None) -> Simulation:
    return Simulation(Scheduler(groups or equal_callers(slots), slots))
