"""A circuit breaker: pauses calls to a server that has just failed, so that few calls wait for it in vain."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from service.ports.clock import Clock

T = TypeVar("T")


class Circuit:
    """Open for `rest_ms` after a failure; then one call tries, and others are rejected until it succeeds.

    A trial that neither fails nor succeeds within `rest_ms` makes room for the next one. Any thread may call
    any method.
    """

    def __init__(self, clock: Clock, rest_ms: int) -> None:
        self._clock = clock
        self._rest_ms = rest_ms
        self._lock = threading.Lock()
        self._resting_until_ms: int | None = None

    def ask(self, question: Callable[[], T], failure: type[Exception]) -> T | None:
        """Returns the answer; None if the server rests, or fails now with such a failure."""
        if not self.lets_through():
            return None
        try:
            answer = question()
        except failure:
            self.note_failure()
            return None
        self.note_answer()
        return answer

    def lets_through(self) -> bool:
        """Whether this call may ask the server."""
        if self._resting_until_ms is None:
            return True
        with self._lock:
            now_ms = self._clock.elapsed_ms()
            if self._resting_until_ms is not None and now_ms < self._resting_until_ms:
                return False
            self._resting_until_ms = now_ms + self._rest_ms
            return True

    def note_failure(self) -> None:
        """Records that the server did not answer."""
        with self._lock:
            self._resting_until_ms = self._clock.elapsed_ms() + self._rest_ms

    def note_answer(self) -> None:
        """Records that the server answered."""
        self._resting_until_ms = None
