"""The gateway's memory: its own process, without Spark, the servers and the processes that parse queries."""

from __future__ import annotations

import contextlib
import threading
from typing import Self

import psutil

from tests.integration.running import RunningGateway

INTERVAL_S = 0.1
MIB = 1024**2


class Footprint:
    """Samples the memory until its block ends."""

    def __init__(self, gateway: RunningGateway) -> None:
        self._own = psutil.Process(gateway.process.pid)
        self._before = self._bytes()
        self._most = self._before
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(5)

    @property
    def grown_mib(self) -> float:
        """The peak in the block above the memory before it, in MiB."""
        return max(0, self._most - self._before) / MIB

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL_S):
            self._most = max(self._most, self._bytes())

    def _bytes(self) -> int:
        with contextlib.suppress(psutil.Error):
            return int(self._own.memory_info().rss)
        return 0
