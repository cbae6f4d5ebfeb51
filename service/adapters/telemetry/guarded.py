"""Isolates collectors: a fault in one costs only its own numbers."""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

log = structlog.get_logger(__name__)


class Guarded(Collector):
    """Collects what another collector does, or nothing if it fails. Only its first fault is logged."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._has_failed = False

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        try:
            return list(self._collector.collect())
        except Exception:  # the outermost edge: monitoring must not fail as a whole
            if not self._has_failed:
                log.exception("metrics_not_collected", collector=type(self._collector).__name__)
            self._has_failed = True
            return []
