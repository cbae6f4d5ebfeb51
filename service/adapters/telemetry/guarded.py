"""A fault in one collector costs its own numbers, and not those of all others."""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

log = structlog.get_logger(__name__)


class Guarded(Collector):
    """Collects what another one does, or nothing. Its first fault is logged, and those after it are not."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._has_failed = False

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        try:
            return list(self._collector.collect())
        except Exception:  # the outermost edge: whoever watches the gateway must not become blind
            if not self._has_failed:
                log.exception("metrics_not_collected", collector=type(self._collector).__name__)
            self._has_failed = True
            return []
