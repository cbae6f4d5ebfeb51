"""Lists and sums of past ingests: what was written to each table, and at which cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from service.model.ingest.ingest import IngestRecord, IngestState


@dataclass(frozen=True, slots=True, order=True)
class IngestPosition:
    """An ingest's place in time; no two ingests have the same place."""

    accepted_at: datetime
    ingest_id: UUID


@dataclass(frozen=True, slots=True)
class IngestListing:
    """A selection of a caller's ingests: at most `limit`, and only those `before` a place in time."""

    caller: str
    limit: int
    state: IngestState | None = None
    before: IngestPosition | None = None

    def takes(self, record: IngestRecord) -> bool:
        """Returns whether the list includes this ingest of the caller's."""
        position = IngestPosition(record.accepted_at, record.ingest_id)
        is_before = self.before is None or position < self.before
        return is_before and self.state in (None, record.state)


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles of many durations, in milliseconds."""

    p50: int = 0
    p95: int = 0
    maximum: int = 0


@dataclass(frozen=True, slots=True)
class TableIngests:
    """The ingests that were accepted for one table, and the commit rounds that committed them.

    `write_ms` counts from a request's beginning until it was accepted. `commit_ms` is that of one round.
    Rejected records are in the table's dead letters instead, which are a table of their own.
    """

    table: str
    ingest_count: int = 0
    waiting_count: int = 0
    failed_by_code: Mapping[str, int] = field(default_factory=dict)
    record_count: int = 0
    data_file_count: int = 0
    byte_count: int = 0
    write_ms: Spread = Spread()
    round_count: int = 0
    ingests_in_rounds: int = 0
    most_ingests_of_a_round: int = 0
    targets_in_rounds: int = 0
    commit_ms: Spread = Spread()
    rejected_record_count: int = 0

    @property
    def ingests_per_round(self) -> float:
        """The mean number of ingests; 0 without rounds."""
        return self.ingests_in_rounds / self.round_count if self.round_count else 0.0

    @property
    def targets_per_round(self) -> float:
        """The mean number of write targets; 0 without rounds."""
        return self.targets_in_rounds / self.round_count if self.round_count else 0.0


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """The ingests of every table since a moment."""

    since: datetime
    tables: Sequence[TableIngests]
