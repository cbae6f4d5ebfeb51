"""Shows when each group of tests ran, and in which process: where the time of a full run goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest


@dataclass(slots=True)
class _Span:
    """A group's first start and last end, in seconds since the epoch, and the number of its tests."""

    began: float
    ended: float
    workers: set[str] = field(default_factory=set)
    tests: int = 0


class Timeline:
    """Collects the reports that a run's processes send, by the group of their test."""

    def __init__(self, group_of: Callable[[str], str]) -> None:
        self._group_of = group_of
        self._spans: dict[str, _Span] = {}

    def add(self, report: pytest.TestReport, worker: str) -> None:
        """Adds one phase of a test."""
        group = self._group_of(report.nodeid)
        span = self._spans.setdefault(group, _Span(report.start, report.stop))
        span.began = min(span.began, report.start)
        span.ended = max(span.ended, report.stop)
        span.workers.add(worker)
        span.tests += report.when == "call"

    def lines(self) -> list[str]:
        """Returns a line for each group in the order of their starts, with minutes since the first start."""
        if not self._spans:
            return []
        first = min(span.began for span in self._spans.values())
        return [
            f"{(span.began - first) / 60:6.1f} to {(span.ended - first) / 60:5.1f} min  "
            f"{','.join(sorted(span.workers)):4}  {span.tests:6} tests  {group}"
            for group, span in sorted(self._spans.items(), key=lambda item: item[1].began)
        ]
