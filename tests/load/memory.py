"""The memory of the gateway's processes over time."""

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
ENOUGH_FOR_A_LINE = 2
GROWS_BY, GROWS_BY_MIB = 1.05, 32.0
"""Memory may grow by this from the second to the last third, as garbage collection varies."""


@dataclass
class MemoryWatch:
    """Samples until its block ends: MiB by process, and the seconds since its begin."""

    gateway: RunningGateway
    moments_s: list[float] = field(default_factory=list)
    mib: dict[str, list[float]] = field(default_factory=lambda: {"gateway": [], "JVM": [], "readers": []})
    cpu_s: dict[str, float] = field(default_factory=dict)
    """The CPU seconds of each process over the block."""

    def __enter__(self) -> Self:
        self._ended = threading.Event()
        self._cpu_before_s: dict[str, float] = {}
        self._began_s = time.monotonic()
        self._own = psutil.Process(self.gateway.process.pid)
        self._jvm = self.gateway.jvm()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(10)

    @property
    def length_s(self) -> float:
        """The time from the first sample to the last."""
        return self.moments_s[-1] - self.moments_s[0] if self.moments_s else 0.0

    def _watch(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(psutil.Error):
                self._look()
            self._ended.wait(EVERY_S)

    def _look(self) -> None:
        assert self._jvm is not None
        others = [child for child in self._own.children() if child != self._jvm]
        watched = {"gateway": [self._own], "JVM": [self._jvm], "readers": others}
        taken = {name: sum(map(_mib, processes)) for name, processes in watched.items()}
        spent_s = {name: sum(map(_cpu_s, processes)) for name, processes in watched.items()}
        self._cpu_before_s = self._cpu_before_s or spent_s
        self.cpu_s = {name: value - self._cpu_before_s[name] for name, value in spent_s.items()}
        self.moments_s.append(time.monotonic() - self._began_s)
        for name, value in taken.items():
            self.mib[name].append(value)


def thirds(values: Sequence[float]) -> tuple[float, float]:
    """Returns the medians of the second and of the last third."""
    third = len(values) // 3
    return statistics.median(values[third : 2 * third]), statistics.median(values[2 * third :])


def is_flat(values: Sequence[float]) -> bool:
    """Returns whether the last third is not larger than the second, apart from chance."""
    second, last = thirds(values)
    return last <= second * GROWS_BY + GROWS_BY_MIB


def slope_per_hour(moments_s: Sequence[float], values: Sequence[float]) -> float:
    """Returns the slope of a line through the last two thirds of the values, per hour.

    >>> slope_per_hour([0, 1800, 3600], [500, 100, 103])
    6.0
    """
    third = len(values) // 3
    moments, rest = moments_s[third:], values[third:]
    if len(rest) < ENOUGH_FOR_A_LINE:
        return 0.0
    return float(statistics.linear_regression(moments, rest).slope) * 3600


def at(moments_s: Sequence[float], values: Sequence[float], moment_s: float) -> float | None:
    """Returns the value of the first sample since this time, or None."""
    found = (value for moment, value in zip(moments_s, values, strict=True) if moment >= moment_s)
    return next(found, None)


def _cpu_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def _mib(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / MIB
