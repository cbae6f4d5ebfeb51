"""Counts work of the driver that no query may cause more of than it must."""

from __future__ import annotations

import threading


class AnalysisCount:
    """A count from the start on. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    @property
    def count(self) -> int:
        """How often it was done."""
        return self._count

    def add(self, times: int = 1) -> None:
        """Counts so many more."""
        with self._lock:
            self._count += times
