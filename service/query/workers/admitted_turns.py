"""Workers that plan and run queries in the order in which they are admitted, and that may hang."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from cachetools import LRUCache

from service.errors.query_errors import TooManyQueries
from service.errors.unavailable import ShuttingDown
from service.model.operations.resource_groups import GroupPath, GroupUse, ResourceGroups, group_name
from service.model.operations.usage import PoolUse
from service.model.query.planned_work import PlannedWork
from service.model.query.progress import QueuePlace
from service.ports.clock import Clock
from service.ports.telemetry.query_metrics import AdmissionMetrics
from service.query.admission.scheduler import Scheduler
from service.query.admission.slot_bounds import SlotBounds
from service.query.admission.started import Started
from service.query.registry.query_handle import QueryHandle
from service.query.registry.read_bytes import read_bytes
from service.query.workers.worker_pool import WorkerPool

KNOWN_TEXTS = 1_000
"""The newest texts whose work is known: an equal query that is long is not planned before its turn."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A query, and the context that carries the ids of its log lines."""

    query: QueryHandle
    context: contextvars.Context


class AdmittedTurns:
    """Gives each query to a worker to be planned, and to run. Any thread may call any method.

    A query whose plan is admitted at once runs on, in the same worker. Any other leaves its worker, and gets
    another one in its turn. Giving up a query ends its turn; the hanging worker counts as given up until it
    returns.
    """

    def __init__(
        self,
        groups: ResourceGroups,
        bounds: SlotBounds,
        clock: Clock,
        metrics: AdmissionMetrics,
        work: Callable[[QueryHandle], None],
    ) -> None:
        self._scheduler: Scheduler[UUID] = Scheduler(groups, bounds)
        self._clock = clock
        self._metrics = metrics
        self._work = work
        self._worker_count = bounds.planners + self._scheduler.size
        self._pool = WorkerPool(self._worker_count, "query")
        # Looks for a turn that no worker has begun yet.
        self._looks = 0
        self._changed = threading.Condition()
        self._held: dict[UUID, _Held] = {}
        self._with_worker: set[UUID] = set()
        self._is_closed = False
        self._known: LRUCache[str, PlannedWork] = LRUCache(KNOWN_TEXTS)

    @property
    def given_up(self) -> int:
        """How many workers were given up and have not returned."""
        return self._pool.given_up

    @property
    def is_exhausted(self) -> bool:
        """Whether no worker is left."""
        return self._pool.is_exhausted

    @property
    def use(self) -> PoolUse:
        """How many queries run, of how many, and how many wait or are being planned."""
        with self._changed:
            scheduler = self._scheduler
            waiting = scheduler.open_count - scheduler.running_count
            return PoolUse(scheduler.running_count, scheduler.size, waiting)

    def group_use(self) -> Sequence[GroupUse]:
        """Returns how many queries of each configured group wait and run."""
        with self._changed:
            return self._scheduler.use()

    def reserve(self, query: QueryHandle, group: GroupPath) -> None:
        """Takes a place in the queue of the group, for `put`; `remove` gives it back.

        Raises:
            TooManyQueries: there is no room for it.
        """
        try:
            with self._changed:
                now_ms, priority = self._clock.elapsed_ms(), query.request.priority
                self._scheduler.reserve(query.query_id, group, query.caller, now_ms, priority)
        except TooManyQueries as refused:
            self._metrics.refused(group_name(group), refused.code)
            raise

    def put(self, query: QueryHandle) -> None:
        """Lets the query be planned and run in its turn; does nothing if it has no place, or none any more.

        Raises:
            ShuttingDown: no more turns are given.
        """
        with self._changed:
            if not self._scheduler.is_open(query.query_id):
                # It was canceled since it was registered.
                return
            if self._is_closed:
                raise ShuttingDown
            self._held[query.query_id] = _Held(query, contextvars.copy_context())
            self._scheduler.offer(query.query_id, self._known.get(query.request.text_fingerprint()))
        self._look()

    def admit(self, query: QueryHandle, work: PlannedWork) -> Started | None:
        """Returns that the planned query runs now; None: it has to leave its worker, and waits."""
        with self._changed:
            self._known[query.request.text_fingerprint()] = work
            was_running = self._scheduler.running_count
            started = self._scheduler.planned(query.query_id, work, self._clock.elapsed_ms())
            is_new = self._scheduler.running_count > was_running
        if started is not None and is_new:
            self._metrics.admitted(group_name(started.group), started.query_class, started.waited_ms)
            # Its planner is free for another one.
            self._wake()
        return started

    def remove(self, query_id: UUID) -> None:
        """Gives back the place of a query that has ended; one that has a worker keeps it until then."""
        with self._changed:
            self._scheduler.remove(query_id)
            if query_id not in self._with_worker:
                self._held.pop(query_id, None)

    def give_up(self, query: QueryHandle) -> None:
        """Ends the turn of a query whose worker hangs; does nothing if the query has none by now."""
        with self._changed:
            if query.query_id not in self._with_worker:
                return
            self._forget(query.query_id)
            self._scheduler.give_up(query.query_id, self._clock.elapsed_ms())
            self._pool.give_up()
        self._wake()

    def place(self, query_id: UUID) -> QueuePlace | None:
        """Returns where the query waits; None if it does not."""
        with self._changed:
            return self._scheduler.place(query_id, self._clock.elapsed_ms())

    def charge_cpu(self, used_ms: Mapping[UUID, int]) -> None:
        """Uses up the CPU budgets of these queries' groups."""
        with self._changed:
            for query_id, cpu_ms in used_ms.items():
                self._scheduler.charge_cpu(query_id, cpu_ms, self._clock.elapsed_ms())

    def poll(self) -> None:
        """Lets queries run whose budget has come back; call it regularly."""
        with self._changed:
            has_turn = self._scheduler.waiting_count and self._scheduler.has_turn(self._clock.elapsed_ms())
        if has_turn:
            self._wake()

    def close(self) -> None:
        """Gives no more turns."""
        with self._changed:
            self._is_closed = True
        self._pool.close()

    def is_idle_within(self, seconds: float) -> bool:
        """Whether no worker has a query any more, waiting at most this long; given up ones do not count."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._with_worker, max(0.0, seconds))

    def _take_turns(self) -> None:
        with self._changed:
            self._looks -= 1
        # An ended query makes room for another one, so look again.
        while (held := self._next()) is not None:
            try:
                held.context.run(self._work, held.query)
            finally:
                self._release(held.query)

    def _next(self) -> _Held | None:
        with self._changed:
            if self._is_closed:
                return None
            was_running, now_ms = self._scheduler.running_count, self._clock.elapsed_ms()
            query_id = self._scheduler.next(now_ms)
            if query_id is None:
                return None
            self._with_worker.add(query_id)
            held = self._held[query_id]
            others_wait = self._scheduler.waiting_count > 0
            started = None
            if self._scheduler.running_count > was_running:
                started = self._scheduler.how_started(query_id)
        if started is not None:
            self._metrics.admitted(group_name(started.group), started.query_class, started.waited_ms)
        if others_wait:
            # There may be a turn for one more worker.
            self._wake()
        return held

    def _release(self, query: QueryHandle) -> None:
        selected_bytes = read_bytes(query.record)
        with self._changed:
            is_given_up = query.query_id not in self._with_worker
            if not is_given_up:
                self._with_worker.remove(query.query_id)
                self._scheduler.release(query.query_id, self._clock.elapsed_ms(), selected_bytes)
                if not self._scheduler.is_open(query.query_id):
                    self._held.pop(query.query_id, None)
                self._changed.notify_all()
        if is_given_up:
            self._pool.take_back()

    def _forget(self, query_id: UUID) -> None:
        self._with_worker.remove(query_id)
        self._held.pop(query_id, None)
        self._changed.notify_all()

    def _wake(self) -> None:
        with suppress(ShuttingDown):
            self._look()

    def _look(self) -> None:
        """Lets one more worker look for a turn. While all are busy, looks do not pile up."""
        with self._changed:
            if self._looks >= self._worker_count:
                return
            self._looks += 1
        try:
            self._pool.submit(self._take_turns)
        except ShuttingDown:
            with self._changed:
                self._looks -= 1
            raise
