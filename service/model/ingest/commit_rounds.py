"""Rounds of the committer, and the ingests that wait for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.model.ingest.writing import CommitResult, Committable, TableKey, WriteResult
from service.tracing import TraceContext


@dataclass(frozen=True, slots=True)
class WaitingIngests:
    """The ingests in the log that wait to be committed: their tables, longest wait first, and their count."""

    keys: Sequence[TableKey]
    ingest_count: int
    oldest_accepted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestBacklog:
    """The backlog: the ingests that this process follows, and the tables and branches of all waiting ones.

    `oldest_ms` is how long ago any replica accepted the ingest that has waited longest.
    """

    ingest_count: int
    key_count: int
    oldest_ms: int = 0


@dataclass(frozen=True, slots=True)
class RoundPart:
    """The part of one ingest in a commit round."""

    ingest_id: UUID
    write_results: tuple[WriteResult, ...]
    trace: TraceContext | None = None


@dataclass(frozen=True, slots=True)
class RoundRevision:
    """The new part of one ingest in its round; with a refusal, the ingest is never committed."""

    ingest_id: UUID
    write_results: tuple[WriteResult, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class RevisedRound:
    """The round as the log has it now; `pending` is None when nothing of it waits any more.

    `taken` are the ingests whose revisions are in the log. Another process has revised or ended the others in
    the meantime; no log entry refers to the files that were written for them.
    """

    taken: frozenset[UUID]
    pending: PendingRound | None


@dataclass(frozen=True, slots=True)
class PendingRound:
    """The ingests that wait for one table and branch.

    Once the outcome is known, either `committed` or `refused` is called, once. `refused` takes a stable code
    and a detail for the callers; the files are then never committed. `postponed` takes the reason why all of
    the round still waits.

    `revise` replaces what the log has of single ingests by their revisions; each revision is applied as a
    whole or not at all. Its code is that of the refusals among them. `is_open` returns whether all of the
    round still waits, as it was read here.
    """

    committable: Committable
    committed: Callable[[CommitResult], None]
    refused: Callable[[str, str], None]
    postponed: Callable[[str], None]
    is_open: Callable[[], bool]
    parts: tuple[RoundPart, ...]
    revise: Callable[[Sequence[RoundRevision], str], RevisedRound]
