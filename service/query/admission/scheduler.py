"""Decides which query is planned next, which runs, which waits, and which is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Generic

from service.errors.query_errors import TooManyQueries
from service.model.operations.resource_groups import (
    GroupPath,
    GroupUse,
    QueryClass,
    ResourceGroup,
    ResourceGroups,
    group_name,
)
from service.model.query.planned_work import PlannedWork
from service.model.query.priority import Priority
from service.model.query.progress import QueuePlace
from service.query.admission.group_node import GroupNode, K, Stage, Ticket
from service.query.admission.group_tree import GroupTree
from service.query.admission.lines import join_line, leave_line
from service.query.admission.planning import Planning
from service.query.admission.queue_place import queue_place
from service.query.admission.room import check_room
from service.query.admission.running import Running
from service.query.admission.service_times import ServiceTimes
from service.query.admission.slot_bounds import SlotBounds
from service.query.admission.started import Started, started

ENDED_KEPT = 10_000
"""CPU time is known a moment after a query's end: that many ended queries can still be charged."""


class Scheduler(Generic[K]):
    """A machine without threads and clocks: one call after the other, each with the time of now.

    A query is reserved, offered, planned, and then runs at once or waits for its turn; `release` ends each of
    its turns. Those that are ready go by class, then by the shares of their groups, then by their own order,
    in which a caller's priorities count among the caller's own queries.
    Keys are unique.
    """

    def __init__(self, groups: ResourceGroups, bounds: SlotBounds) -> None:
        self._bounds = bounds
        self._times = ServiceTimes()
        whole = ResourceGroup(
            name="",
            hard_concurrency_limit=bounds.long_slots + bounds.short_slots,
            long_concurrency_limit=bounds.long_slots,
            max_queued=bounds.max_queued,
            sub_groups=groups.root_groups,
        )
        self._tree: GroupTree[K] = GroupTree(groups, whole)
        self._configured = [path for path, group in groups.walk() if not group.sub_groups]
        self._running: Running[K] = Running(self._tree.top, bounds, self._times)
        self._planning: Planning[K] = Planning(bounds)
        self._tickets: dict[K, Ticket[K]] = {}
        self._ended: dict[K, GroupNode[K]] = {}
        self._keeps_ended = groups.counts_cpu
        self._number = 0

    @property
    def size(self) -> int:
        """How many queries run at once at most."""
        return self._tree.top.spec.hard_concurrency_limit

    @property
    def running_count(self) -> int:
        """How many queries run."""
        return len(self._running)

    @property
    def planning_count(self) -> int:
        """How many queries are being planned."""
        return len(self._planning)

    @property
    def waiting_count(self) -> int:
        """How many queries wait for a turn."""
        top = self._tree.top
        return top.unplanned_count + sum(top.waiting.values())

    @property
    def open_count(self) -> int:
        """How many queries wait, are being planned, or run."""
        return len(self._tickets)

    def groups(self) -> Iterator[GroupNode[K]]:
        """Yields every group in force; the first one stands for the whole gateway."""
        yield self._tree.top
        yield from self._tree.walk()

    def reserve(
        self,
        key: K,
        group: GroupPath,
        caller: str,
        now_ms: int,
        priority: Priority = Priority.NORMAL,
    ) -> None:
        """Takes a place in the queue of the configured group; `offer` lets the query be planned.

        Raises:
            QuotaExhausted, TooManyQueries: there is no room for it.
        """
        leaf = self._tree.leaf(group, caller)
        try:
            check_room(leaf, self._times, now_ms)
        except TooManyQueries:
            self._tree.ended(leaf)
            raise
        self._number += 1
        self._tickets[key] = Ticket(key, caller, leaf, self._number, now_ms, priority)
        leaf.prioritized += priority is not Priority.NORMAL
        for node in leaf.upward():
            node.open += 1

    def offer(self, key: K, known: PlannedWork | None = None) -> None:
        """Lets the query be planned; `known` is the work of an equal query, if there was one.

        One that is known to be long need not be planned before its turn.
        """
        ticket = self._tickets[key]
        if known is None or self._bounds.class_of(known) is QueryClass.SHORT:
            self._planning.join(ticket)
        else:
            ticket.query_class, ticket.selected_bytes = QueryClass.LONG, known.selected_bytes
            join_line(ticket)

    def next(self, now_ms: int) -> K | None:
        """Returns the query whose turn it is: to run if it was planned before, else to be planned.

        None if there is no turn to take now.
        """
        ticket = self._running.next(now_ms)
        if ticket is not None:
            leave_line(ticket)
            self._running.start(ticket, now_ms)
            return ticket.key
        ticket = self._planning.next(now_ms)
        if ticket is None:
            return None
        self._planning.start(ticket)
        return ticket.key

    def has_turn(self, now_ms: int) -> bool:
        """Whether `next` would return a query."""
        return self._running.next(now_ms) is not None or self._planning.next(now_ms) is not None

    def planned(self, key: K, work: PlannedWork, now_ms: int) -> Started | None:
        """Returns that a planned query runs from now on, or that it runs already; None: it has to wait.

        If it has to, `release` brings it into the line.
        """
        ticket = self._tickets.get(key)
        if ticket is None or ticket.is_removed:
            return None
        if ticket.stage is Stage.RUNNING:
            self._running.correct_scan(ticket, work.selected_bytes, now_ms)
            return started(ticket)
        ticket.query_class, ticket.selected_bytes = self._bounds.class_of(work), work.selected_bytes
        ticket.is_planned = True
        join_line(ticket)
        winner = self._running.next(now_ms)
        leave_line(ticket)
        if winner is not ticket:
            # It still has its worker, so it does not wait in the line yet.
            ticket.stage, ticket.is_parked = Stage.PLANNING, True
            return None
        self._planning.stop(ticket)
        self._running.start(ticket, now_ms)
        return started(ticket)

    def how_started(self, key: K) -> Started:
        """Returns how a query that runs was started."""
        return started(self._tickets[key])

    def is_open(self, key: K) -> bool:
        """Whether the query waits, is being planned, or runs."""
        return key in self._tickets

    def release(self, key: K, now_ms: int, read_bytes: int | None = None) -> None:
        """Ends the query's turn: its worker has left it. A planned query that has to wait joins the line.

        `read_bytes` is what its scans selected in the end, if that is known.
        """
        ticket = self._tickets.get(key)
        if ticket is None:
            return
        if ticket.stage is Stage.PLANNING:
            self._planning.stop(ticket)
            if ticket.is_parked and not ticket.is_removed:
                ticket.is_parked = False
                join_line(ticket)
                return
        elif ticket.stage is Stage.RUNNING:
            if read_bytes is not None:
                self._running.correct_scan(ticket, read_bytes, now_ms)
            self._running.stop(ticket, now_ms)
        self._end(ticket)

    def remove(self, key: K) -> None:
        """Removes a query that waits; one that has a worker is removed by its `release`."""
        ticket = self._tickets.get(key)
        if ticket is None:
            return
        if ticket.stage in (Stage.PLANNING, Stage.RUNNING):
            ticket.is_removed = True
            return
        if ticket.stage is Stage.WAITING:
            leave_line(ticket)
        elif ticket.stage is Stage.UNPLANNED:
            self._planning.leave(ticket)
        self._end(ticket)

    def give_up(self, key: K, now_ms: int) -> None:
        """Ends the turn of a query whose worker hangs."""
        ticket = self._tickets.get(key)
        if ticket is not None:
            ticket.is_removed = True
            self.release(key, now_ms)

    def charge_cpu(self, key: K, cpu_ms: int, now_ms: int) -> None:
        """Uses up CPU time of the query's group and those around it, even a moment after its end."""
        ticket = self._tickets.get(key)
        leaf = self._ended.get(key) if ticket is None else ticket.leaf
        for node in () if leaf is None else leaf.upward():
            if node.cpu is not None:
                node.cpu.use(cpu_ms, now_ms)

    def place(self, key: K, now_ms: int) -> QueuePlace | None:
        """Returns where the query waits; None if it does not."""
        ticket = self._tickets.get(key)
        return None if ticket is None else queue_place(ticket, self._running, self._times, now_ms)

    def use(self) -> Sequence[GroupUse]:
        """Returns how many queries of each configured group wait and run."""
        queued: Counter[GroupPath] = Counter()
        running: Counter[GroupPath] = Counter()
        for ticket in self._tickets.values():
            of = running if ticket.stage is Stage.RUNNING else queued
            of[ticket.leaf.configured] += 1
        return [GroupUse(group_name(path), queued[path], running[path]) for path in self._configured]

    def _end(self, ticket: Ticket[K]) -> None:
        ticket.stage = Stage.ENDED
        del self._tickets[ticket.key]
        ticket.leaf.prioritized -= ticket.priority is not Priority.NORMAL
        for node in ticket.leaf.upward():
            node.open -= 1
        self._tree.ended(ticket.leaf)
        if self._keeps_ended:
            self._ended[ticket.key] = ticket.leaf
            if len(self._ended) > ENDED_KEPT:
                del self._ended[next(iter(self._ended))]
