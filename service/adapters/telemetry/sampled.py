"""What takes time to find out, found out beside those who want to know."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from service.periodic_worker import PeriodicWorker

T = TypeVar("T")

SAMPLED_EVERY_S = 10.0
KEPT_SAMPLES = 6
"""For how many intervals a sample is told; after that, whoever takes it hangs."""


class Sampled(Generic[T]):
    """Calls a function again and again, in a thread of its own, which may hang. Any thread may ask."""

    def __init__(self, name: str, take: Callable[[], T], every_s: float = SAMPLED_EVERY_S) -> None:
        self._take = take
        self._every_s = every_s
        self._latest: tuple[float, T] | None = None
        self._worker = PeriodicWorker(f"sample-{name}", self._sample, every_s)

    def start(self) -> None:
        """Begins."""
        self._worker.start()

    @property
    def latest(self) -> T | None:
        """What it gave last; None before the first time, and where that is too long ago. At once."""
        latest = self._latest
        if latest is None or time.monotonic() - latest[0] > KEPT_SAMPLES * self._every_s:
            return None
        return latest[1]

    def close(self) -> None:
        """Takes no further sample; one that hangs is not waited for."""
        self._worker.close()

    def _sample(self) -> None:
        self._latest = time.monotonic(), self._take()
