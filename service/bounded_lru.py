"""An LRU cache, bounded by the number of entries and by bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

from service.model.operations.usage import CacheUse

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedLru(Generic[K, V]):
    """Caches values by key, and evicts the least recently used. Thread-safe.

    >>> cache = BoundedLru[str, int](max_entries=2, max_bytes=100)
    >>> for key in "abc": cache.put(key, ord(key), byte_count=10)
    >>> cache.get("a"), cache.get("c")
    (None, 99)
    """

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: LRUCache[K, tuple[V, int]] = LRUCache(max_bytes, lambda entry: entry[1])
        self._hits = self._misses = 0

    @property
    def use(self) -> CacheUse:
        """The current use."""
        with self._lock:
            byte_count = int(self._entries.currsize)
            return CacheUse(len(self._entries), byte_count, self._max_bytes, self._hits, self._misses)

    def get(self, key: K, is_current: Callable[[V], bool] = lambda _: True) -> V | None:
        """Returns the cached value. A value that is not current counts as missing; `put` replaces it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not is_current(entry[0]):
                self._misses += 1
                return None
            self._hits += 1
            return entry[0]

    def drop(self, key: K) -> None:
        """Forgets the value, if there is one."""
        with self._lock:
            self._entries.pop(key, None)

    def clear(self) -> int:
        """Forgets all values, and returns how many there were. The counts of hits and misses go on."""
        with self._lock:
            count = len(self._entries)
            self._entries.clear()
            return count

    def put(self, key: K, value: V, byte_count: int) -> None:
        """Caches the value, unless it is larger than the whole cache may be."""
        with self._lock:
            self._entries.pop(key, None)
            if byte_count > self._max_bytes:
                return
            self._entries[key] = (value, byte_count)
            while len(self._entries) > self._max_entries:
                self._entries.popitem()
