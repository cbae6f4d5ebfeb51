"""How long tables are missed, or files that were written for them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from service.model.writing import TableKey
from service.ports import Clock

_LOOKS_AT_LEAST = 3


@dataclass(slots=True)
class _Absence:
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

    def is_final(self, key: TableKey) -> bool:
        """Says that it is missed now, and whether it has been for so long that it is gone.

        Looks count too: a process that stood still has not seen what was there meanwhile.
        """
        now_ms = self._clock.elapsed_ms()
        with self._lock:
            absence = self._absences.setdefault(key, _Absence(now_ms))
            absence.looks += 1
            is_long = now_ms - absence.since_ms >= self._final_after_ms
            return is_long and absence.looks >= _LOOKS_AT_LEAST

    def ended(self, key: TableKey) -> None:
        """Says that it is there, or that nobody here can say."""
        with self._lock:
            self._absences.pop(key, None)
