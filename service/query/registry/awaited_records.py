"""Waits a moment for records that are on their way from another replica to the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from service.ports.clock import Clock

T = TypeVar("T")

PAUSE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedBounds:
    """How long one lookup waits, and how many wait at once. Others get at once what is there."""

    wait_s: float = 1.0
    at_once: int = 8


class AwaitedRecords:
    """A record is written within moments after its query's end, so one that is missing is looked up again.

    Whoever asks for ids that do not exist takes no more threads than `at_once`. Any thread may call it.
    """

    def __init__(
        self, clock: Clock, bounds: AwaitedBounds, pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._clock = clock
        self._bounds = bounds
        self._pause = pause
        self._places = threading.BoundedSemaphore(max(1, bounds.at_once))

    def found(self, find: Callable[[], T], is_enough: Callable[[T], bool]) -> T:
        """Returns what `find` returns as soon as that is enough, or the last of it.

        Raises:
            Exception: that of `find`.
        """
        found = find()
        if is_enough(found) or not self._places.acquire(blocking=False):
            return found
        try:
            until_ms = self._clock.elapsed_ms() + self._bounds.wait_s * 1000
            for _ in range(round(self._bounds.wait_s / PAUSE_S)):
                self._pause(PAUSE_S)
                found = find()
                # A slow store takes its own time for each look.
                if is_enough(found) or self._clock.elapsed_ms() >= until_ms:
                    break
            return found
        finally:
            self._places.release()
