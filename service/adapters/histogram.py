"""Durations counted by their upper bounds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from service.model.meters import Sample

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Histogram:
    """Not safe for several threads: whoever holds it also holds a lock."""

    def __init__(self, bounds_s: Sequence[float] = BOUNDS_S) -> None:
        self._bounds_s = tuple(bounds_s)
        self._counts = [0] * (len(self._bounds_s) + 1)
        self._sum_s = 0.0

    def observe(self, elapsed_ms: int) -> None:
        """Counts one duration."""
        elapsed_s = elapsed_ms / 1000
        self._counts[bisect_left(self._bounds_s, elapsed_s)] += 1
        self._sum_s += elapsed_s

    def samples(self) -> Sequence[Sample]:
        """What was counted so far, as Prometheus has it: each bound holds all that is below it.

        >>> histogram = Histogram((0.1, 1))
        >>> histogram.observe(100)
        >>> [(each.labels.get("le"), each.value) for each in histogram.samples()]
        [('0.1', 1), ('1', 1), ('+Inf', 1), (None, 0.1), (None, 1)]
        """
        return tuple(self._samples())

    def _samples(self) -> Iterator[Sample]:
        bounds = [*(f"{each:g}" for each in self._bounds_s), "+Inf"]
        for bound, count in zip(bounds, accumulate(self._counts), strict=True):
            yield Sample(count, {"le": bound}, "_bucket")
        yield Sample(round(self._sum_s, 3), {}, "_sum")
        yield Sample(sum(self._counts), {}, "_count")
