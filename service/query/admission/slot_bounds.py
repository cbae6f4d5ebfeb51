"""How many queries run and are planned at once, and which of them are short."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.operations.resource_groups import QueryClass
from service.model.query.planned_work import PlannedWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBounds:
    """Long queries hold `long_slots` at most; short ones may use `short_slots` beyond those.

    A query is short if its plan selects at most `short_max_bytes`; one that runs for longer than
    `short_max_ms` counts as long from then on. Without short slots every query is long. In each group,
    `planned_ahead` long queries at most are planned while others run. `max_queued` is for all groups
    together.

    >>> bounds = SlotBounds(long_slots=5, max_queued=100, short_slots=2, short_max_bytes=1000)
    >>> bounds.class_of(PlannedWork(0)), bounds.class_of(PlannedWork(1001))
    (<QueryClass.SHORT: 'short'>, <QueryClass.LONG: 'long'>)
    >>> bounds.class_of(PlannedWork(0, is_bounded=False))
    <QueryClass.LONG: 'long'>
    """

    long_slots: int
    max_queued: int
    short_slots: int = 0
    short_max_bytes: int = 0
    short_max_ms: int = 10_000
    planners: int = 2
    planned_ahead: int = 4

    def class_of(self, work: PlannedWork) -> QueryClass:
        """Returns the class of a query that is planned."""
        is_short = self.short_slots and work.is_bounded and work.selected_bytes <= self.short_max_bytes
        return QueryClass.SHORT if is_short else QueryClass.LONG
