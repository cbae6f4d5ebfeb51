"""Streams: ingests that continue by themselves, micro-batch by micro-batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from service.model.ingest.ingest import OnError
from service.model.ingest.ingest_request import Route, Write
from service.model.ingest.sources import SourceRecords


class StreamState(StrEnum):
    """The state of a stream; a `RUNNING` one continues after every restart, a `FAILED` one does not."""

    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class DirectorySource:
    """Files that arrive in a folder, each read once; `glob` selects names."""

    records: SourceRecords
    glob: str | None = None
    files_per_batch: int = 1_000

    @property
    def uri(self) -> str:
        """The folder."""
        return self.records.uri


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """The messages of a topic; their values are records."""

    bootstrap_servers: str
    topic: str
    starting_offsets: str = "earliest"
    messages_per_batch: int = 100_000

    @property
    def uri(self) -> str:
        """The topic's address at the first of its servers.

        >>> KafkaSource("one:9092, two:9092", "logs").uri
        'kafka://one:9092/logs'
        """
        return f"kafka://{self.bootstrap_servers.split(',')[0].strip()}/{self.topic}"


StreamSource = DirectorySource | KafkaSource


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream's source and its destinations; its `writes` have no records of their own."""

    source: StreamSource
    writes: tuple[Write, ...]
    route: Route | None
    on_error: OnError
    interval_ms: int


@dataclass(frozen=True, slots=True)
class CreatorRoles:
    """The proven kind and roles of the creator of a stream, when it created or last resumed the stream.

    `kind` is that of its principal, also one that only a newer version knows. `key_id` is the API key that it
    came with. It is None for other kinds, and for streams of earlier versions.
    """

    kind: str
    roles: frozenset[str] = frozenset()
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A stream as its store has it; `body` is what its caller sent.

    `checkpoint_id` is that of Spark's checkpoint of what was read. The micro-batch `last_batch_id` is in the
    tables. `request_id` is the caller's. Equal fingerprints mean that two requests had the same body.
    `creator_roles` is None for streams of earlier versions.
    """

    stream_id: UUID
    caller: str
    name: str
    body: Mapping[str, Any]
    created_at: datetime
    state: StreamState = StreamState.RUNNING
    error_code: str | None = None
    error_detail: str | None = None
    checkpoint_id: UUID | None = None
    last_batch_id: int | None = None
    last_batch_at: datetime | None = None
    batch_count: int = 0
    record_count: int = 0
    rejected_count: int = 0
    request_id: UUID | None = None
    fingerprint: str = ""
    creator_roles: CreatorRoles | None = None


@dataclass(frozen=True, slots=True)
class BatchDone:
    """The result of a micro-batch."""

    checkpoint_id: UUID
    batch_id: int
    at: datetime
    record_count: int
    rejected_count: int


def batch_request_id(
    checkpoint_id: UUID, batch_id: int, attempt: int = 0, *, holds_dead_letters: bool = False
) -> UUID:
    """Returns the id of a micro-batch's ingest, or of its dead letters'; the same if the batch comes again.

    >>> checkpoint = UUID("6f0a3c52-9a1f-4f0e-8f4c-0b1c6a7d2e55")
    >>> batch_request_id(checkpoint, 7) == batch_request_id(checkpoint, 7) != batch_request_id(checkpoint, 8)
    True
    """
    if holds_dead_letters:
        return uuid5(checkpoint_id, f"{batch_id}/letters/{attempt}")
    return uuid5(checkpoint_id, f"{batch_id}" if attempt == 0 else f"{batch_id}/{attempt}")
