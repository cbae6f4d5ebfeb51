"""The disk space of results: which of them have to go, and when."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from threading import Lock
from uuid import UUID

from service.adapters.results.stored_result import StoredResult
from service.errors.query_errors import ResultTooLarge
from service.model.operations.usage import CacheUse


class ResultRoom:
    """The results that this process keeps, the oldest first. Any thread may call any method.

    Results of one origin share their rows, which take their room once.
    """

    def __init__(self, total_bytes: int) -> None:
        self._total_bytes = total_bytes
        # In the order in which they expire, since all live equally long.
        self._stored: dict[UUID, StoredResult] = {}
        self._shares: Counter[UUID] = Counter()
        self._stored_bytes = 0
        self._reserved_bytes = 0
        self._lock = Lock()

    @property
    def use(self) -> CacheUse:
        """The disk space that results take now."""
        with self._lock:
            return CacheUse(len(self._stored), self._stored_bytes, self._total_bytes)

    def find(self, query_id: UUID) -> StoredResult | None:
        """Returns a result, also if it has expired."""
        with self._lock:
            return self._stored.get(query_id)

    def reserve(self, byte_count: int) -> list[UUID]:
        """Takes room for a result that is about to be written; returns those that have to go for it.

        Raises:
            ResultTooLarge: it is larger than all results together may be.
        """
        if byte_count > self._total_bytes:
            raise ResultTooLarge
        with self._lock:
            self._reserved_bytes += byte_count
            return self._surplus()

    def free(self, byte_count: int) -> None:
        """Gives such room back."""
        with self._lock:
            self._reserved_bytes -= byte_count

    def add(self, query_id: UUID, stored: StoredResult) -> list[UUID]:
        """Adds a result; returns those that have to go for it."""
        with self._lock:
            self._stored_bytes += 0 if stored.origin in self._shares else stored.file_bytes
            self._shares[stored.origin] += 1
            self._stored[query_id] = stored
            return self._surplus()

    def remove(self, query_id: UUID) -> None:
        """Removes a result, if it is there."""
        with self._lock:
            stored = self._stored.pop(query_id, None)
            if stored is None:
                return
            self._shares[stored.origin] -= 1
            if not self._shares[stored.origin]:
                del self._shares[stored.origin]
                self._stored_bytes -= stored.file_bytes

    def expired(self, now_ms: int) -> list[UUID]:
        """Returns the results whose time to live has ended."""
        with self._lock:
            ended = takewhile(lambda stored: stored[1].expires_at_ms <= now_ms, self._stored.items())
            return [query_id for query_id, _ in ended]

    def clear(self) -> None:
        """Forgets all results."""
        with self._lock:
            self._stored.clear()
            self._shares.clear()
            self._stored_bytes = 0

    def _surplus(self) -> list[UUID]:
        taken = self._reserved_bytes + self._stored_bytes
        left: dict[UUID, int] = {}
        oldest = []
        for query_id, stored in self._stored.items():
            if taken <= self._total_bytes:
                break
            left[stored.origin] = left.get(stored.origin, self._shares[stored.origin]) - 1
            taken -= 0 if left[stored.origin] else stored.file_bytes
            oldest.append(query_id)
        return oldest
