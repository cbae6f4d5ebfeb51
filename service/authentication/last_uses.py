"""Keeps in memory when keys were last used, and writes it from time to time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime

import structlog

from service.errors.unavailable import MetricsStoreDown
from service.periodic_worker import PeriodicWorker

WRITTEN_EVERY_S = 30.0
CLOSED_WITHIN_S = 10.0
MAX_KEYS = 10_000
_log = structlog.get_logger(__name__)


class LastUses:
    """Notes uses at once, and writes them together in a thread of its own. Any thread may note.

    Uses that cannot be written are written later. Beyond `MAX_KEYS` keys at a time, uses of further keys are
    not noted.
    """

    def __init__(
        self, write: Callable[[Mapping[str, datetime]], None], every_s: float = WRITTEN_EVERY_S
    ) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._uses: dict[str, datetime] = {}
        self._worker = PeriodicWorker(
            "api-key-uses", self.flush, every_s, waits_first=True, at_end=self.flush
        )

    def start(self) -> None:
        """Starts the thread that writes."""
        self._worker.start()

    def note(self, key_id: str, at: datetime) -> None:
        """Notes that a key was used."""
        with self._lock:
            self._note(key_id, at)

    def flush(self) -> None:
        """Writes all noted uses. If this fails, they wait for the next time."""
        with self._lock:
            uses, self._uses = self._uses, {}
        if not uses:
            return
        try:
            self._write(uses)
        except MetricsStoreDown:
            _log.warning("api_key_uses_not_written", keys=len(uses))
            with self._lock:
                later, self._uses = self._uses, uses
                for key_id, at in later.items():
                    self._note(key_id, at)

    def _note(self, key_id: str, at: datetime) -> None:
        if key_id in self._uses or len(self._uses) < MAX_KEYS:
            self._uses[key_id] = at

    def close(self) -> None:
        """Writes once more, and ends the thread."""
        self._worker.close(CLOSED_WITHIN_S)
