"""Estimates how many ingests wait in the log between two polls."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from service.model.ingest.writing import TableKey
from service.ports.stores.ingest_log import IngestLog


class LogBacklog:
    """The number of ingests that wait in the log, of all replicas and earlier processes.

    Any thread may call any method. Only a poll shows what other replicas accept and commit. Commits of this
    process count at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen = 0
        self._ended = 0
        self._ended_before = 0
        self._oldest_accepted_at: datetime | None = None

    @property
    def ingest_count(self) -> int:
        """The count of the last poll, less the ingests that rounds of this process have ended since."""
        with self._lock:
            return max(0, self._seen - (self._ended - self._ended_before))

    @property
    def oldest_accepted_at(self) -> datetime | None:
        """When the ingest that had waited longest at the last poll was accepted; None: nothing waits."""
        with self._lock:
            return self._oldest_accepted_at

    def look(self, log: IngestLog) -> Sequence[TableKey]:
        """Polls the log, and returns where something waits.

        Raises:
            MetricsStoreDown: the log does not answer; the count stays as it was.
        """
        with self._lock:
            # A round may end while the log is polled. The next poll corrects a count that is too low; one
            # that is too high would reject callers until then.
            before = self._ended
        waiting = log.waiting()
        with self._lock:
            self._seen, self._ended_before = waiting.ingest_count, before
            self._oldest_accepted_at = waiting.oldest_accepted_at
        return waiting.keys

    def ended(self, ingest_count: int) -> None:
        """Notes that a round of this many ingests has ended here."""
        with self._lock:
            self._ended += ingest_count
