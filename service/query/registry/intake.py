"""Whether this gateway accepts queries, and whether anybody still reads their results."""

from __future__ import annotations

import threading

from service.errors.unavailable import ShuttingDown
from service.ports.clock import Clock

STIRRED_MS = 2_000
"""How long after a query's end, or after a chunk that is not the last, its reader may still come back."""


class Intake:
    """Accepts queries until it drains or stops. Any thread may call any method."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._closing = threading.Event()
        self._draining = threading.Event()
        self._stirred_ms = clock.elapsed_ms() - STIRRED_MS

    def check(self) -> None:
        """Lets a request pass while queries are accepted.

        Raises:
            ShuttingDown: the gateway accepts no more queries.
        """
        if not self.is_open:
            raise ShuttingDown

    @property
    def is_open(self) -> bool:
        """Whether queries are accepted."""
        return not (self._closing.is_set() or self._draining.is_set())

    @property
    def is_draining(self) -> bool:
        """Whether a drain has begun."""
        return self._draining.is_set()

    def begin_drain(self) -> None:
        """Stops accepting queries, since their results would go with this process. All other work goes on."""
        self._draining.set()

    def stop(self) -> None:
        """Accepts nothing more, not even a query that is only planned."""
        self._closing.set()

    def stir(self, _: object = None) -> None:
        """Notes that a reader may come back within `STIRRED_MS`."""
        self._stirred_ms = self._clock.elapsed_ms()

    def is_quiet(self) -> bool:
        """Whether no reader is expected to come back."""
        return self._clock.elapsed_ms() - self._stirred_ms >= STIRRED_MS
