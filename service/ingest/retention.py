"""Keeps the ingest log small by removing ingests that ended long ago."""

from __future__ import annotations

from datetime import timedelta

import structlog

from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.stores.ingest_log import IngestHistory

AT_ONCE = 1_000
EVERY_S = 3_600.0

log = structlog.get_logger(__name__)


class IngestRetention:
    """A thread that forgets, at start and hourly, the ingests that ended longer ago than `retention`.

    Their `requestId`s are forgotten too: the same request is then a new one. Ingests that wait for their
    commit are never touched. Files are not deleted here: only the table knows which of them it has, and its
    maintenance asks it.
    """

    def __init__(self, history: IngestHistory, clock: Clock, retention: timedelta) -> None:
        self._history = history
        self._clock = clock
        self._retention = retention
        self._worker = PeriodicWorker("ingest-retention", self._forget_old, EVERY_S)

    def start(self) -> None:
        """Begins to sweep."""
        self._worker.start()

    def sweep(self) -> int:
        """Forgets all ingests that are due now, and returns how many.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        moment, count = self._clock.now() - self._retention, 0
        while not self._worker.is_closing:
            forgotten = self._history.forget_before(moment, AT_ONCE)
            count += forgotten
            if forgotten < AT_ONCE:
                break
        return count

    def close(self) -> None:
        """Ends the thread."""
        self._worker.close()

    def _forget_old(self) -> None:
        if forgotten := self.sweep():
            log.info("old_ingests_forgotten", count=forgotten)
