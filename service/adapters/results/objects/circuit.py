"""Remembers for a while that the store did not answer, so that nobody waits for it."""

from __future__ import annotations

import threading

from service.errors.query_errors import ResultStoreDown
from service.ports.clock import Clock

REST_MS = 10_000
"""After this time, one caller tries again; the others still fail at once."""


class Circuit:
    """Opens at a failure and closes at an answer. Any thread may call any method."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failure: ResultStoreDown | None = None
        self._next_try_ms = 0

    @property
    def failure(self) -> ResultStoreDown | None:
        """The failure that nobody has got an answer since; None: the store answers, as far as is known."""
        return self._failure

    def enter(self) -> None:
        """Lets the caller ask the store.

        Raises:
            ResultStoreDown: it did not answer a moment ago.
        """
        with self._lock:
            if self._failure is None:
                return
            if self._clock.elapsed_ms() < self._next_try_ms:
                raise ResultStoreDown(self._failure.detail)
            self._next_try_ms = self._clock.elapsed_ms() + REST_MS

    def open(self, failure: ResultStoreDown) -> None:
        """Notes that the store did not answer."""
        with self._lock:
            self._failure = failure
            self._next_try_ms = self._clock.elapsed_ms() + REST_MS

    def close(self) -> None:
        """Notes that it has answered."""
        self._failure = None
