"""How much of what is bounded is in use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Threads, processes or connections: how many are busy, how many there are, and who waits for one."""

    busy: int
    size: int
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class CacheUse:
    """What is kept, of how many bytes at most, and how often what was asked for was there.

    `hits` and `misses` are counted from the start of the cache, and are None where nobody counts.
    """

    entries: int
    byte_count: int
    max_bytes: int
    hits: int | None = None
    misses: int | None = None
