"""Facts about the engine and its JVM that are known without asking them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class EngineLoss(StrEnum):
    """The reason why an engine had to be replaced."""

    PROCESS_ENDED = "PROCESS_ENDED"
    NOT_RESPONDING = "NOT_RESPONDING"
    GARBAGE_COLLECTION = "GARBAGE_COLLECTION"
    GIVEN_UP = "GIVEN_UP"


@dataclass(frozen=True, slots=True)
class JvmSample:
    """Bytes, threads and milliseconds as the JVM last reported them; a bound of 0 means no bound."""

    heap_used_bytes: int
    heap_max_bytes: int
    metaspace_used_bytes: int
    metaspace_max_bytes: int
    direct_used_bytes: int
    thread_count: int
    collection_ms: int


@dataclass(frozen=True, slots=True)
class EngineSigns:
    """The engine's last known condition.

    `silent_s` is how long its trial query has not been answered. `collection_share`: see `Heartbeat`.
    `losses` are counted since the gateway's start. Without an engine there is neither a sample nor a process.
    """

    losses: Mapping[EngineLoss, int]
    silent_s: float = 0.0
    jvm: JvmSample | None = None
    collection_share: float | None = None
    process_id: int | None = None
