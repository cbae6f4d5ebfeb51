"""Samples slow values in the background, so that readers need not wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from service.periodic_worker import PeriodicWorker

T = TypeVar("T")

SAMPLED_EVERY_S = 10.0
VALID_INTERVALS = 6
"""For how many intervals a sample is valid; after that, sampling is taken to hang."""


class Sampled(Generic[T]):
    """Calls a function periodically in its own thread, which may hang. `latest` is thread-safe."""

    def __init__(self, name: str, take: Callable[[], T], every_s: float = SAMPLED_EVERY_S) -> None:
        self._take = take
        self._every_s = every_s
        self._latest: tuple[float, T] | None = None
        self._worker = PeriodicWorker(f"sample-{name}", self._sample, every_s)

    def start(self) -> None:
        """Starts sampling."""
        self._worker.start()

    @property
    def latest(self) -> T | None:
        """The latest sample, without waiting; None before the first one, and if it is too old."""
        latest = self._latest
        if latest is None or time.monotonic() - latest[0] > VALID_INTERVALS * self._every_s:
            return None
        return latest[1]

    def close(self) -> None:
        """Stops sampling; it does not wait for a sample that hangs."""
        self._worker.close()

    def _sample(self) -> None:
        self._latest = time.monotonic(), self._take()
