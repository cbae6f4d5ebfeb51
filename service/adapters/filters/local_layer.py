"""The keys that this process used last, in memory; deletions on the server apply here too."""

from __future__ import annotations

import sys
import threading

from service.adapters.filters.cache_server import FilterServer
from service.adapters.filters.codec import StoredKeys
from service.bounded_lru import BoundedLru
from service.errors.unavailable import FilterCacheDown
from service.model.filters.key_set import DynamicFilteringData
from service.model.operations.usage import CacheUse
from service.ports.clock import Clock

# The layer is bounded by bytes; this many of the smallest sets need some 100 MB.
MAX_ENTRIES = 100_000
LOOK_EVERY_MS = 1000
_ENTRY_BYTES = 500


class LocalLayer:
    """An in-memory cache bounded by bytes; with zero bytes it caches nothing."""

    def __init__(self, max_bytes: int, server: FilterServer, clock: Clock) -> None:
        self._max_bytes = max_bytes
        self._server = server
        self._clock = clock
        self._looking = threading.Lock()
        self._looked_at_ms: int | None = None
        self._generation: bytes | None = None
        self._shelf = _Shelf(max_bytes)

    @property
    def use(self) -> CacheUse:
        """The current use; the counts restart when everything is forgotten."""
        return self._shelf.entries.use

    def get(self, fingerprint: str) -> StoredKeys | None:
        """Returns the keys if they are cached and have not expired."""
        self._follow_the_server()
        stored = self._shelf.entries.get(fingerprint)
        return stored if stored is not None and stored.expires_at > self._clock.now() else None

    def shelf(self) -> _Shelf:
        """Returns the store for keys read from now on; a `forget` in between makes it unused."""
        return self._shelf

    def forget(self) -> None:
        """Drops everything cached so far."""
        self._shelf = _Shelf(self._max_bytes)

    def _follow_the_server(self) -> None:
        # One thread checks for all. Entries are addressed by their content, so a late check is harmless.
        if not self._looking.acquire(blocking=False):
            return
        try:
            self._look_if_due()
        except FilterCacheDown:
            return
        finally:
            self._looking.release()

    def _look_if_due(self) -> None:
        now_ms = self._clock.elapsed_ms()
        if self._looked_at_ms is not None and now_ms < self._looked_at_ms + LOOK_EVERY_MS:
            return
        self._looked_at_ms = now_ms
        generation = self._server.generation()
        if generation != self._generation:
            self.forget()
            self._generation = generation


class _Shelf:
    """The entries cached between two calls of `forget`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.entries: BoundedLru[str, StoredKeys] = BoundedLru(MAX_ENTRIES, max_bytes)

    def put(self, fingerprint: str, stored: StoredKeys) -> None:
        """Caches the keys, unless they alone are larger than the whole layer."""
        byte_count = _memory(stored.data)
        if byte_count <= self._max_bytes:
            self.entries.put(fingerprint, stored, byte_count)


def _memory(data: DynamicFilteringData) -> int:
    stored = (*data.values, *data.ranges)
    keys = sum(sys.getsizeof(key) + sum(map(sys.getsizeof, key)) for key in stored)
    return _ENTRY_BYTES + sys.getsizeof(stored) + keys
