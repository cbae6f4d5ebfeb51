"""What replicas tell one another through the store that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from service.model.query.query import QueryRecord


@dataclass(frozen=True, slots=True)
class Replica:
    """One run of one gateway process. A restart is another replica: its queries are not there any more.

    `name` is for people, such as the host's.
    """

    replica_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """A query that has not ended, as its replica knows it. `elapsed_ms`: since it was submitted."""

    record: QueryRecord
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Decided:
    """What others decided about a replica's open queries since it last asked."""

    lost: frozenset[UUID] = field(default_factory=frozenset)
    """They count as lost: the replica was not seen for too long."""
    canceled: frozenset[UUID] = field(default_factory=frozenset)
    """Their caller wants them to end, and said so at another replica."""
    at_ms: int = 0
    """The moment by the store's clock; it may go back, and forward."""
