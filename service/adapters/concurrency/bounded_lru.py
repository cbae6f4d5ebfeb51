"""What was used last is kept, within a number of entries and of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from service.model.operations.usage import CacheUse

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedLru(Generic[K, V]):
    """Keeps values by key; the one that was not asked for the longest makes room. For several threads.

    >>> cache = BoundedLru[str, int](max_entries=2, max_bytes=100)
    >>> for key in "abc": cache.put(key, ord(key), byte_count=10)
    >>> cache.get("a"), cache.get("c")
    (None, 99)
    """

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._byte_count = 0
        self._hits = self._misses = 0

    @property
    def use(self) -> CacheUse:
        """As it is now."""
        with self._lock:
            return CacheUse(len(self._entries), self._byte_count, self._max_bytes, self._hits, self._misses)

    def get(self, key: K) -> V | None:
        """The value, if it is kept."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, byte_count: int) -> None:
        """Keeps the value; one that is larger than all bytes together is not kept."""
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = (value, byte_count)
            self._byte_count += byte_count - before
            while len(self._entries) > self._max_entries or self._byte_count > self._max_bytes:
                _, (_, freed) = self._entries.popitem(last=False)
                self._byte_count -= freed
