"""The results of this process that are kept for reuse."""

from __future__ import annotations

from uuid import UUID

from service.bounded_lru import BoundedLru
from service.model.operations.usage import CacheUse
from service.model.query.reuse import ReusableResult


class LocalResultIndex:
    """Implements `service.ports.stores.reusable_results.ResultIndex` in memory.

    The results themselves are in the result store, which counts their room; here their bytes count against
    `max_bytes`. The least recently used make room for others.
    """

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        self._results: BoundedLru[str, ReusableResult] = BoundedLru(max_entries, max_bytes)

    def find(self, key: str) -> ReusableResult | None:
        """See the port."""
        return self._results.get(key)

    def put(self, key: str, result: ReusableResult) -> None:
        """See the port."""
        self._results.put(key, result, result.manifest.byte_count)

    def drop(self, key: str, query_id: UUID) -> None:
        """See the port."""
        found = self._results.get(key)
        if found is not None and found.query_id == query_id:
            self._results.drop(key)

    def clear(self) -> int:
        """See the port."""
        return self._results.clear()

    @property
    def use(self) -> CacheUse:
        """See the port."""
        return self._results.use
