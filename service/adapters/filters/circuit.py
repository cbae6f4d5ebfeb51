"""Pauses calls to a server that has just failed, so that only one call in a while waits for it."""

from __future__ import annotations

import threading

from service.ports import Clock

REST_MS = 1000


class Circuit:
    """Open for a second after a failure; then one call tries, and others are rejected until it succeeds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._resting_until_ms: int | None = None

    def lets_through(self) -> bool:
        """Whether this call may ask the server."""
        if self._resting_until_ms is None:
            return True
        with self._lock:
            now_ms = self._clock.elapsed_ms()
            if self._resting_until_ms is not None and now_ms < self._resting_until_ms:
                return False
            self._resting_until_ms = now_ms + REST_MS
            return True

    def note_failure(self) -> None:
        """Records that the server did not answer."""
        with self._lock:
            self._resting_until_ms = self._clock.elapsed_ms() + REST_MS

    def note_answer(self) -> None:
        """Records that the server answered."""
        self._resting_until_ms = None
