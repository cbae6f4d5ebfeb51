"""Single flight: one call at a time for each key; callers that come while it runs share its outcome."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Flight(Future[T]):
    """The outcome of a call that runs. All callers share it, so none of them can cancel it."""

    def __init__(self) -> None:
        super().__init__()
        self.began_s = time.monotonic()
        self.set_running_or_notify_cancel()


class SingleFlight(Generic[K, T]):
    """Makes one call at a time for each key. Any thread may call any method.

    `join` makes the call in the thread of its first caller, `start` in a thread of its own. Callers of both
    share the call. A caller that gives up leaves it running for the others. The outcome is given only to
    callers that came while the call ran: nothing is cached.

    A failure is shared as a result is, unless it is one of `personal`: these concern only the caller who made
    the call, as its cancellation does. The callers that joined it then start again, and one of them makes the
    next call. `late` is raised where another's call does not end in time.
    """

    def __init__(
        self, personal: tuple[type[Exception], ...] = (), late: type[Exception] = TimeoutError
    ) -> None:
        self._personal = personal
        self._late = late
        self._lock = threading.Lock()
        self._running: dict[K, Flight[T]] = {}

    def __len__(self) -> int:
        """How many calls run."""
        return len(self._running)

    def __contains__(self, key: K) -> bool:
        """Whether a call of this key runs."""
        return key in self._running

    def join(self, key: K, call: Callable[[], T], within_s: float | None = None) -> tuple[T, bool]:
        """Returns the call's result, and whether this caller made the call; only others wait `within_s`.

        Raises:
            Exception: what the call raised, made by this caller or by another; or `late`.
        """
        deadline = None if within_s is None else time.monotonic() + within_s
        while True:
            flight, is_ours = self._flight_of(key)
            if is_ours:
                self._make(key, flight, call)
                return flight.result(), True
            left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not wait([flight], left_s).done:
                raise self._late
            if not isinstance(flight.exception(), self._personal):
                return flight.result(), False

    def start(
        self, key: K, call: Callable[[], T], run: Callable[[Callable[[], None]], object] | None = None
    ) -> Flight[T]:
        """Returns the call that runs, or begins one, and does not wait for it.

        `run` gives the call to a thread, by default to a new one. If that raises a RuntimeError, as an
        executor does that was shut down, the call fails with it.
        """
        flight, is_ours = self._flight_of(key)
        if is_ours:
            try:
                (run or _run_apart)(lambda: self._make(key, flight, call))
            except RuntimeError as failure:
                self._forget(key)
                flight.set_exception(failure)
        return flight

    def _flight_of(self, key: K) -> tuple[Flight[T], bool]:
        with self._lock:
            running = self._running.get(key)
            if running is not None:
                return running, False
            flight = self._running[key] = Flight()
            return flight, True

    def _make(self, key: K, flight: Flight[T], call: Callable[[], T]) -> None:
        try:
            result = call()
        except BaseException as failure:  # noqa: BLE001  all who wait must get an outcome, and raise it
            self._forget(key)
            flight.set_exception(failure)
        else:
            self._forget(key)
            flight.set_result(result)

    def _forget(self, key: K) -> None:
        # Before the outcome is set: a caller that starts again must not find the call that has just ended.
        with self._lock:
            del self._running[key]


def _run_apart(call: Callable[[], None]) -> None:
    # A daemon, because a call that hangs must not keep the process from ending.
    threading.Thread(target=call, name="single-flight", daemon=True).start()
