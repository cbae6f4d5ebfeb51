"""The usage of bounded resources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Threads, processes or connections: how many are busy, how many exist, and how many callers wait."""

    busy: int
    size: int
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The contents of a cache, its bound in bytes, and how often requested entries were there.

    `hits`, `misses` and `evictions` are counted from the start of the cache, and are None where they are not
    counted.
    """

    entries: int
    byte_count: int
    max_bytes: int
    hits: int | None = None
    misses: int | None = None
    evictions: int | None = None
