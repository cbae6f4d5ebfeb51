"""The queries that run, and the one that runs next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic

from service.model.operations.resource_groups import QueryClass
from service.query.admission.group_node import GroupNode, K, Stage, Ticket
from service.query.admission.next_turn import next_to_run, note_turn
from service.query.admission.service_times import ServiceTimes
from service.query.admission.slot_bounds import SlotBounds


class Running(Generic[K]):
    """Counts running queries in their groups, uses up the groups' budgets, and knows who is next."""

    def __init__(self, top: GroupNode[K], bounds: SlotBounds, times: ServiceTimes) -> None:
        self._top = top
        self._bounds = bounds
        self._times = times
        self._tickets: dict[Ticket[K], None] = {}

    def __len__(self) -> int:
        """Returns how many queries run."""
        return len(self._tickets)

    def __iter__(self) -> Iterator[Ticket[K]]:
        """Yields the queries that run."""
        return iter(self._tickets)

    def next(self, now_ms: int) -> Ticket[K] | None:
        """Returns the waiting query that may run now; None if there is none."""
        self._see_overdue(now_ms)
        # Short ones first, but only into the slots that are theirs while a long one waits: both go on.
        has_own = self._top.running[QueryClass.SHORT] < self._bounds.short_slots
        classes = (QueryClass.SHORT, QueryClass.LONG) if has_own else (QueryClass.LONG, QueryClass.SHORT)
        for query_class in classes:
            if self._top.waiting[query_class]:
                ticket = next_to_run(self._top, query_class, self._tickets, self._times, now_ms)
                if ticket is not None:
                    return ticket
        return None

    def start(self, ticket: Ticket[K], now_ms: int) -> None:
        """Counts the query as running from now on."""
        note_turn(ticket, self._tickets, self._times, now_ms)
        ticket.stage, ticket.started_ms = Stage.RUNNING, now_ms
        self._tickets[ticket] = None
        for node in ticket.leaf.upward():
            node.running[ticket.query_class] += 1
        _use_scan(ticket, ticket.selected_bytes, now_ms)

    def correct_scan(self, ticket: Ticket[K], selected_bytes: int, now_ms: int) -> None:
        """Counts what the query really reads instead of what was planned."""
        _use_scan(ticket, selected_bytes - ticket.selected_bytes, now_ms)
        ticket.selected_bytes = selected_bytes

    def stop(self, ticket: Ticket[K], now_ms: int) -> None:
        """Counts the query as running no longer."""
        del self._tickets[ticket]
        ran_ms = now_ms - ticket.started_ms
        self._times.note(ticket.query_class, ran_ms)
        for node in ticket.leaf.upward():
            node.running[ticket.query_class] -= 1
            node.shares[ticket.query_class].charge(ran_ms)

    def _see_overdue(self, now_ms: int) -> None:
        """Counts short queries that run for too long as long ones: their slots are for short ones again."""
        for ticket in self._tickets:
            is_overdue = now_ms - ticket.started_ms > self._bounds.short_max_ms
            if ticket.query_class is QueryClass.SHORT and is_overdue:
                ticket.query_class = QueryClass.LONG
                for node in ticket.leaf.upward():
                    node.running[QueryClass.SHORT] -= 1
                    node.running[QueryClass.LONG] += 1


def _use_scan(ticket: Ticket[K], selected_bytes: int, now_ms: int) -> None:
    for node in ticket.leaf.upward():
        if node.scanned is not None:
            node.scanned.use(selected_bytes, now_ms)
