"""Counts failed attempts by address or by key, in bounded memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cachetools import LRUCache

from service.ports.clock import Clock

WINDOW_S = 60.0
MAX_COUNTED = 20_000


@dataclass(slots=True)
class _Level:
    failures: float
    at_ms: int


class FailureCounts:
    """Counts failures. They are forgotten evenly over a minute.

    Its methods must be called on the event loop's thread. Each replica counts on its own, so a caller may
    fail `at_most` times at each. Beyond `max_counted` names, the least recently used ones are forgotten.
    """

    def __init__(self, clock: Clock, at_most: int, max_counted: int = MAX_COUNTED) -> None:
        self._clock = clock
        self._at_most = at_most
        self._levels: LRUCache[str, _Level] = LRUCache(max_counted)

    def add(self, name: str) -> None:
        """Counts one more failure."""
        level = min(self._level(name) + 1, self._at_most + 1)
        self._levels[name] = _Level(level, self._clock.elapsed_ms())

    def forgive(self, name: str) -> None:
        """Takes a failure back: it was counted before it was known to be a success."""
        self._levels[name] = _Level(max(0.0, self._level(name) - 1), self._clock.elapsed_ms())

    def wait_s(self, name: str) -> int:
        """Returns how many seconds to wait before the next attempt. 0: no wait."""
        excess = self._level(name) + 1 - self._at_most
        return math.ceil(excess * WINDOW_S / self._at_most) if excess > 0 else 0

    def _level(self, name: str) -> float:
        known = self._levels.get(name)
        if known is None:
            return 0.0
        passed_s = (self._clock.elapsed_ms() - known.at_ms) / 1000
        return max(0.0, known.failures - passed_s * self._at_most / WINDOW_S)
