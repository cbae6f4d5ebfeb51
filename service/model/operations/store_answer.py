"""What a store says when it is asked how it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreAnswer:
    """`ahead_ms` is how far its clock is before this machine's; negative: behind.

    `memory_policy` is what it does when `max_memory_bytes` are full; empty, and 0: not known, or no limit.
    `remarks` are what else was seen; `cures` what to do about what will harm when a server is lost.
    """

    server: str
    round_trip_ms: float
    ahead_ms: float
    memory_policy: str = ""
    max_memory_bytes: int = 0
    remarks: tuple[str, ...] = ()
    cures: tuple[str, ...] = ()
