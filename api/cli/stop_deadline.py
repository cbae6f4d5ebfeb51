"""The last resort of a stop: ends a process that hangs."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

import psutil
import structlog

STOPPED_WITHIN_S = 10
"""Time until the process ends in any case, after the delay and the bound on queries."""

_log = structlog.stdlib.get_logger("api.stop_deadline")


class StopDeadline:
    """Ends the process, and the processes that it started, if its stop takes too long.

    Each step of a stop has a bound of its own. This one is for the case that such a bound fails, as in a call
    that nothing can interrupt. Accepted ingests are safe: the next start continues with them, as after a
    crash.
    """

    def __init__(self, seconds: float, end: Callable[[], None] | None = None) -> None:
        self._seconds = seconds
        self._end = end or end_process

    def begin(self) -> None:
        """Counts in a daemon thread, which runs even while the interpreter waits for other threads."""
        threading.Thread(target=self._watch, name="stop-deadline", daemon=True).start()

    def _watch(self) -> None:
        time.sleep(self._seconds)
        _log.error("stop_took_too_long", seconds=self._seconds, threads=_busy_threads())
        self._end()


def end_process() -> None:
    """Kills the children of this process, and ends it at once with status 1."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
    sys.stderr.flush()
    os._exit(1)


def _busy_threads() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate() if not thread.daemon)
