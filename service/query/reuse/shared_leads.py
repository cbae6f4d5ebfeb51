"""Lets one replica run a query that several are asked for at once, while the others wait for its result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.stores.reusable_results import RunLeases
from service.query.registry.query_handle import QueryHandle

POLL_S = 0.05
RENEW_MS = 1_000
IDLE_S = 60.0
ENDED_WITHIN_S = 2.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    name: str
    query: QueryHandle
    go_on: Callable[[], None]
    until_ms: int


class SharedLeads:
    """Knows which leases the queries of this gateway have, and which queries wait for those of others.

    A query waits without a worker, once, for at most `max_wait_ms` and half of the time that it has left.
    After that it runs, whatever others do. Its own end ends its wait. Any thread may call any method.
    """

    def __init__(self, leases: RunLeases, clock: Clock, max_wait_ms: int) -> None:
        self._leases = leases
        self._clock = clock
        self._max_wait_ms = max_wait_ms
        self._lock = threading.Lock()
        self._led: dict[UUID, set[str]] = {}
        self._waiting: dict[UUID, _Waiting] = {}
        self._have_waited: set[UUID] = set()
        self._renewed_ms = clock.elapsed_ms()
        self._worker = PeriodicWorker("shared-leads", self.poll, self._pause_s)

    def start(self) -> None:
        """Starts to poll."""
        self._worker.start()

    def close(self) -> None:
        """Stops to poll: leases end within seconds, and whoever waits here ends with the gateway."""
        self._worker.close(ENDED_WITHIN_S)

    def lead(self, name: str, query: QueryHandle) -> bool:
        """Returns whether the query may run: no other replica runs the same, or nobody can be asked."""
        with self._lock:
            if name in self._led.get(query.query_id, ()):
                return True
        if not self._leases.claim(name, str(query.query_id)):
            return False
        with self._lock:
            is_first = not self._led
            self._led.setdefault(query.query_id, set()).add(name)
        if query.record.state.is_final:
            # It ended before the lease was noted, so its end has not released it.
            self.let_go(query.query_id)
        elif is_first:
            self._worker.wake()
        return True

    def wait(self, name: str, query: QueryHandle, go_on: Callable[[], None]) -> bool:
        """Has the query wait until the lease has ended; returns False if it has to run instead.

        `go_on` is called once, in another thread, unless the query has ended by then.
        """
        now_ms = self._clock.elapsed_ms()
        wait_ms = min(self._max_wait_ms, (query.deadline_ms - now_ms) // 2)
        with self._lock:
            if wait_ms <= 0 or query.query_id in self._have_waited:
                return False
            self._have_waited.add(query.query_id)
            self._waiting[query.query_id] = _Waiting(name, query, go_on, now_ms + wait_ms)
        if query.record.state.is_final:
            self.let_go(query.query_id)
        self._worker.wake()
        return True

    def let_go(self, query_id: UUID) -> None:
        """Ends the leases and the wait of a query that has ended, or whose result is for nobody else."""
        with self._lock:
            names = self._led.pop(query_id, ())
            self._waiting.pop(query_id, None)
            self._have_waited.discard(query_id)
        for name in names:
            self._leases.release(name, str(query_id))

    def poll(self) -> None:
        """Renews the leases of this gateway, and lets those go on that need not wait any more."""
        now_ms = self._clock.elapsed_ms()
        if now_ms - self._renewed_ms >= RENEW_MS:
            self._renewed_ms = now_ms
            self._renew()
        with self._lock:
            waiting = dict(self._waiting)
        held = self._leases.held({waits.name for waits in waiting.values()}) if waiting else ()
        for query_id, waits in waiting.items():
            if waits.name in held and now_ms < waits.until_ms:
                continue
            with self._lock:
                is_waiting = self._waiting.pop(query_id, None) is not None
            if is_waiting:
                waits.go_on()

    def _renew(self) -> None:
        with self._lock:
            held = {name: str(query_id) for query_id, names in self._led.items() for name in names}
        if held:
            self._leases.renew(held)

    def _pause_s(self) -> float:
        with self._lock:
            if self._waiting:
                return POLL_S
            return RENEW_MS / 1000 if self._led else IDLE_S
