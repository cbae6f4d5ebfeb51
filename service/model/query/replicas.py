"""Messages between replicas, through the store that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from service.model.query.progress import QueryProgress, QueuePlace
from service.model.query.query import QueryRecord, QueryState


@dataclass(frozen=True, slots=True)
class Replica:
    """One run of one gateway process; a restart is another replica, without the queries of the one before.

    `name` is for people, such as the host's.
    """

    replica_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class SeenReplica:
    """A replica as the store that all of them share knows it; times are from the store's clock.

    `silent_ms` is the distance to its last report that it is alive, which is in the future if the clock was
    set back. None: it reported that it ends.
    """

    replica: Replica
    started_at: datetime
    silent_ms: int | None
    open_queries: int
    is_this_one: bool


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """Where an open query waits, or how far it is, as its caller may see it; None: neither is known."""

    queue: QueuePlace | None = None
    progress: QueryProgress | None = None


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """A query that has not ended, as its replica knows it; `elapsed_ms` counts from its submission.

    `report` is the last one of its replica; None: there is none, or it is too old.
    """

    record: QueryRecord
    elapsed_ms: int
    report: ProgressReport | None = None

    @property
    def queue(self) -> QueuePlace | None:
        """Where it waits. A report may be older than the state."""
        is_queued = self.record.state is QueryState.QUEUED
        return self.report.queue if self.report is not None and is_queued else None

    @property
    def progress(self) -> QueryProgress | None:
        """How far it is."""
        return None if self.report is None else self.report.progress


@dataclass(frozen=True, slots=True)
class BegunRequest:
    """A query that has the requestId of its caller; `fingerprint` is that of the request's body."""

    query_id: UUID
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions of other replicas about a replica's open queries since it last asked."""

    lost: frozenset[UUID] = field(default_factory=frozenset)
    """Queries that count as lost, because their replica was not seen for too long."""
    canceled: frozenset[UUID] = field(default_factory=frozenset)
    """Queries that their caller canceled at another replica."""
    at_ms: int = 0
    """The moment by the store's clock, which may jump back or forward."""
    has_others: bool = False
    """Whether another replica was seen lately."""
