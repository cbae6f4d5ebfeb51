"""How much memory the gateway's processes take, as time goes on."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import psutil

from tests.integration.running import RunningGateway

EVERY_S = 5.0
MIB = 1024**2
GROWS_BY, GROWS_BY_MIB = 1.05, 32.0
"""From the second third to the last one; what a collection of garbage more or less makes."""


@dataclass
class MemoryWatch:
    """Looks for as long as its block lasts: MiB by process, and the seconds since its begin."""

    gateway: RunningGateway
    moments_s: list[float] = field(default_factory=list)
    mib: dict[str, list[float]] = field(default_factory=lambda: {"gateway": [], "JVM": [], "readers": []})
    cores: dict[str, list[float]] = field(default_factory=lambda: {"gateway": [], "JVM": []})

    def __enter__(self) -> Self:
        self._ended = threading.Event()
        self._began_s = time.monotonic()
        self._own = psutil.Process(self.gateway.process.pid)
        self._jvm = self.gateway.jvm()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(10)

    def _watch(self) -> None:
        assert self._jvm is not None
        watched = {"gateway": self._own, "JVM": self._jvm}
        for each in watched.values():
            each.cpu_percent()
        while not self._ended.wait(EVERY_S):
            with contextlib.suppress(psutil.Error):
                others = [each for each in self._own.children() if each != self._jvm]
                taken = {name: _mib(each) for name, each in watched.items()} | {
                    "readers": sum(map(_mib, others))
                }
                busy = {name: each.cpu_percent() / 100 for name, each in watched.items()}
                self.moments_s.append(time.monotonic() - self._began_s)
                for name, value in taken.items():
                    self.mib[name].append(value)
                for name, value in busy.items():
                    self.cores[name].append(value)


def thirds(values: Sequence[float]) -> tuple[float, float]:
    """The medians of the second third and of the last one."""
    third = len(values) // 3
    return statistics.median(values[third : 2 * third]), statistics.median(values[2 * third :])


def is_flat(values: Sequence[float]) -> bool:
    """Whether the last third has not more than the second, but for what is chance."""
    second, last = thirds(values)
    return last <= second * GROWS_BY + GROWS_BY_MIB


def _mib(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / MIB
