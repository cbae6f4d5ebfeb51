"""How many ingests wait in the log, known between two looks at it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from service.ingest_ports import IngestLog
from service.model.ingest.writing import TableKey


class LogBacklog:
    """Counts what waits in the log, of all replicas and of earlier processes. Any thread may call any method.

    Only looks see what others accept and commit; what is committed here counts at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen = 0
        self._ended = 0
        self._ended_before = 0
        self._oldest_accepted_at: datetime | None = None

    @property
    def ingest_count(self) -> int:
        """What the last look has seen, without what rounds of this process have ended since."""
        with self._lock:
            return max(0, self._seen - (self._ended - self._ended_before))

    @property
    def oldest_accepted_at(self) -> datetime | None:
        """When the ingest was accepted that had waited longest at the last look; None: nothing waits."""
        with self._lock:
            return self._oldest_accepted_at

    def look(self, log: IngestLog) -> Sequence[TableKey]:
        """Counts anew; where something waits.

        Raises:
            MetricsStoreDown: the log does not answer; the count is as before.
        """
        with self._lock:
            # A round may end while the log is asked. Counted too low, the next look mends it; counted too
            # high, callers would be refused until then.
            before = self._ended
        waiting = log.waiting()
        with self._lock:
            self._seen, self._ended_before = waiting.ingest_count, before
            self._oldest_accepted_at = waiting.oldest_accepted_at
        return waiting.keys

    def ended(self, ingest_count: int) -> None:
        """Says that a round of so many ingests has ended here."""
        with self._lock:
            self._ended += ingest_count
