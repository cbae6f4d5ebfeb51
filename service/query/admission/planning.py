"""The queries that wait to be planned, and those that are being planned."""

from __future__ import annotations

from typing import Generic

from service.query.admission.group_node import GroupNode, K, Stage, Ticket
from service.query.admission.lines import join_unplanned, leave_unplanned
from service.query.admission.next_turn import next_to_plan
from service.query.admission.slot_bounds import SlotBounds


class Planning(Generic[K]):
    """Lets groups take turns for the planners; no group takes the last one."""

    def __init__(self, bounds: SlotBounds) -> None:
        self._bounds = bounds
        self._leaves: dict[GroupNode[K], None] = {}
        self._count = 0
        self._turns = 0

    def __len__(self) -> int:
        """Returns how many queries are being planned."""
        return self._count

    def join(self, ticket: Ticket[K]) -> None:
        """Lets the query wait to be planned."""
        join_unplanned(ticket)
        self._leaves.setdefault(ticket.leaf)

    def leave(self, ticket: Ticket[K]) -> None:
        """Ends that wait."""
        leave_unplanned(ticket)
        if not ticket.leaf.unplanned:
            del self._leaves[ticket.leaf]

    def next(self, now_ms: int) -> Ticket[K] | None:
        """Returns the query that may be planned now; None if there is none."""
        if self._count >= self._bounds.planners:
            return None
        most = max(1, self._bounds.planners - 1)
        leaves = [leaf for leaf in self._leaves if leaf.planning < most]
        return next_to_plan(leaves, self._bounds.planned_ahead, now_ms)

    def start(self, ticket: Ticket[K]) -> None:
        """Counts the query, which waited, as being planned."""
        self.leave(ticket)
        ticket.stage = Stage.PLANNING
        self._count += 1
        ticket.leaf.planning += 1
        self._turns += 1
        ticket.leaf.planned_at = self._turns

    def stop(self, ticket: Ticket[K]) -> None:
        """Counts it so no longer."""
        self._count -= 1
        ticket.leaf.planning -= 1
