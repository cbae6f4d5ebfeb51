"""A store's answer to a check of its condition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreAnswer:
    """The condition of a store.

    `ahead_ms` is how far its clock is ahead of this machine's; negative: behind. `memory_policy` is what it
    does when `max_memory_bytes` are full; empty, and 0: unknown, or no limit. `remarks` are other
    observations. `cures` say how to fix what will cause harm when a server is lost.
    """

    server: str
    round_trip_ms: float
    ahead_ms: float
    memory_policy: str = ""
    max_memory_bytes: int = 0
    remarks: tuple[str, ...] = ()
    cures: tuple[str, ...] = ()
