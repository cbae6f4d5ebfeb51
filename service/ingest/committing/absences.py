"""How long tables are missed, or files that were written for them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from uuid import UUID

from service.model.ingest.writing import TableKey
from service.ports import Clock

_LOOKS_AT_LEAST = 3


@dataclass(slots=True)
class _Absence:
    round_id: UUID
    since_ms: int
    looks: int = 0


class Absences:
    """Tells an absence that stays from one that passes. Any thread may call any method.

    A proxy says 404 while what is behind it starts, a name is free while another table takes it, a listing is
    behind: what was accepted must not be given up for that. Every process counts for itself.
    """

    def __init__(self, clock: Clock, final_after_ms: int) -> None:
        self._clock = clock
        self._final_after_ms = final_after_ms
        self._lock = threading.Lock()
        self._absences: dict[TableKey, _Absence] = {}

    def is_final(self, key: TableKey, round_id: UUID) -> bool:
        """Says that a round misses it now, and whether it has for so long that it is gone.

        Looks count too: a process that stood still has not seen what was there meanwhile. Of another round
        it is missed anew: the one before was committed by whoever saw it.
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
        """Says that it is there, or that nobody here can say."""
        with self._lock:
            self._absences.pop(key, None)
