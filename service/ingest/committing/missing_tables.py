"""Tracks how long tables, or files that were written for them, have been missing."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from uuid import UUID

from service.model.ingest.writing import TableKey
from service.ports.clock import Clock

_LOOKS_AT_LEAST = 3


@dataclass(slots=True)
class _Absence:
    round_id: UUID
    since_ms: int
    looks: int = 0


class MissingTables:
    """The absences of tables and files, which tell a lasting absence from one that passes.

    Any thread may call any method. A proxy answers 404 while the server behind it starts. A name is free
    while another table takes it. A listing is out of date. Accepted ingests must not be given up for such
    reasons. Every process counts for itself.
    """

    def __init__(self, clock: Clock, final_after_ms: int) -> None:
        self._clock = clock
        self._final_after_ms = final_after_ms
        self._lock = threading.Lock()
        self._absences: dict[TableKey, _Absence] = {}

    def is_final(self, key: TableKey, round_id: UUID) -> bool:
        """Notes that a round misses it now, and returns whether this has lasted so long that it is gone.

        The number of attempts counts too: a process that was suspended has not seen what was there in the
        meantime. For another round, counting starts again, because whoever committed the round before had
        found it.
        """
        now_ms = self._clock.elapsed_ms()
        with self._lock:
            absence = self._absences.get(key)
            if absence is None or absence.round_id != round_id:
                absence = self._absences[key] = _Absence(round_id, now_ms)
            absence.looks += 1
            is_long = now_ms - absence.since_ms >= self._final_after_ms
            return is_long and absence.looks >= _LOOKS_AT_LEAST

    def ended(self, key: TableKey) -> None:
        """Notes that it is there, or that its absence cannot be determined here."""
        with self._lock:
            self._absences.pop(key, None)
