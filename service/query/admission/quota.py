"""A budget for a period, which fills up again all the time."""

from __future__ import annotations

import math


class Quota:
    """How much of a budget is used.

    Used budget comes back at a steady rate: all of it in one period. That is how Trino counts
    (`cpuQuotaPeriod`), and it needs no history. A query that uses more than is left makes the next ones wait
    for longer.
    """

    def __init__(self, limit: int, period_ms: int) -> None:
        self._limit = limit
        self._period_ms = period_ms
        self._used = 0.0
        self._at_ms = 0

    def use(self, amount: float, now_ms: int) -> None:
        """Uses up so much of it; a negative amount gives it back."""
        self._used = max(0.0, self._used_at(now_ms) + amount)
        self._at_ms = max(self._at_ms, now_ms)

    def is_exhausted(self, now_ms: int) -> bool:
        """Whether nothing of it is left."""
        return self._used_at(now_ms) >= self._limit

    def wait_ms(self, now_ms: int) -> int:
        """Returns how long it stays exhausted, if nobody uses more of it until then.

        >>> quota = Quota(limit=100, period_ms=1000)
        >>> quota.use(150, now_ms=0)
        >>> quota.wait_ms(0), quota.is_exhausted(500), quota.is_exhausted(501)
        (501, True, False)
        """
        left = self._used_at(now_ms) - self._limit
        return 0 if left < 0 else math.floor(left * self._period_ms / self._limit) + 1

    def used(self, now_ms: int) -> float:
        """Returns how much of it is used."""
        return self._used_at(now_ms)

    def _used_at(self, now_ms: int) -> float:
        back = max(0, now_ms - self._at_ms) * self._limit / self._period_ms
        return max(0.0, self._used - back)
