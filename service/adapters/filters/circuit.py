"""Lets a server rest that has just failed, so that its silence costs one call in a while and not each."""

from __future__ import annotations

import threading

from service.ports import Clock

REST_MS = 1000


class Circuit:
    """Open for a second after a failure; then one call tries, and the others wait for what it finds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._resting_until_ms: int | None = None

    def lets_through(self) -> bool:
        """Whether the server may be asked by this call."""
        if self._resting_until_ms is None:
            return True
        with self._lock:
            now_ms = self._clock.elapsed_ms()
            if self._resting_until_ms is not None and now_ms < self._resting_until_ms:
                return False
            self._resting_until_ms = now_ms + REST_MS
            return True

    def note_failure(self) -> None:
        """The server did not answer."""
        with self._lock:
            self._resting_until_ms = self._clock.elapsed_ms() + REST_MS

    def note_answer(self) -> None:
        """The server answered."""
        self._resting_until_ms = None
