"""Repeats a trial query: the only sure sign of health."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from pyspark.errors import PySparkException

from service.periodic_worker import PeriodicWorker
from spark_session.java.jvm import UNREACHABLE


class Heartbeat:
    """Runs `beat` every `interval_s` in a thread of its own, which a silent JVM may block for ever.

    `beat` returns the milliseconds that the JVM has paused for garbage collection since its start. Only that
    thread writes; any other may read.
    """

    def __init__(self, beat: Callable[[], int], interval_s: float, window_s: float) -> None:
        self._beat = beat
        self._window_s = window_s
        self._began_s: float | None = None
        self._failure: str | None = None
        self._collected: deque[tuple[float, int]] = deque()
        self._worker = PeriodicWorker("engine-heartbeat", self._try_beat, interval_s, waits_first=True)

    def start(self) -> None:
        """Starts the thread."""
        self._worker.start()

    def stop(self) -> None:
        """Starts no further beat; one that hangs ends with its JVM."""
        self._worker.close()

    def silent_s(self) -> float:
        """How long the current beat has not been answered; 0 between two beats."""
        began_s = self._began_s
        return 0.0 if began_s is None else time.monotonic() - began_s

    @property
    def failure(self) -> str | None:
        """Why the last beat failed, in a word; None if it was answered."""
        return self._failure

    def collection_share(self) -> float | None:
        """The share of the last `window_s` spent in garbage collection; None before the window is over."""
        samples = tuple(self._collected)
        if not samples or samples[-1][0] - samples[0][0] < self._window_s:
            return None
        (first_s, first_ms), (last_s, last_ms) = samples[0], samples[-1]
        return (last_ms - first_ms) / 1000 / (last_s - first_s)

    def _try_beat(self) -> None:
        self._began_s = time.monotonic()
        try:
            self._note(self._beat())
            self._failure = None
        except (PySparkException, *UNREACHABLE) as failure:
            self._failure = type(failure).__name__
        finally:
            self._began_s = None

    def _note(self, collected_ms: int) -> None:
        now_s = time.monotonic()
        self._collected.append((now_s, collected_ms))
        # One sample from before the window stays, so that the window is always covered.
        while len(self._collected) > 1 and now_s - self._collected[1][0] >= self._window_s:
            self._collected.popleft()
