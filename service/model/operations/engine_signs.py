"""What is known of the engine and its JVM without asking it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class EngineLoss(StrEnum):
    """Why an engine had to be replaced by a new one."""

    PROCESS_ENDED = "PROCESS_ENDED"
    NOT_RESPONDING = "NOT_RESPONDING"
    GARBAGE_COLLECTION = "GARBAGE_COLLECTION"
    GIVEN_UP = "GIVEN_UP"


@dataclass(frozen=True, slots=True)
class JvmSample:
    """Bytes, threads and milliseconds as the JVM told them last. No bound is 0."""

    heap_used_bytes: int
    heap_max_bytes: int
    metaspace_used_bytes: int
    metaspace_max_bytes: int
    direct_used_bytes: int
    thread_count: int
    collection_ms: int


@dataclass(frozen=True, slots=True)
class EngineSigns:
    """`silent_s`: how long its trial query has not been answered. `collection_share`: see `Heartbeat`.

    `losses` are counted since the gateway's start. Without an engine there is neither a sample nor a process.
    """

    losses: Mapping[EngineLoss, int]
    silent_s: float = 0.0
    jvm: JvmSample | None = None
    collection_share: float | None = None
    process_id: int | None = None
