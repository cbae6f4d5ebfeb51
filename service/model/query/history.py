"""Lists and sums of past queries: their summaries, and the pruning of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.progress import QueuePlace
from service.model.query.query import QueryRecord, QueryState
from service.model.query.scan_metrics import Selection

MAX_SQL_CHARACTERS = 1_000
"""A list shows only the beginning of a long text."""

NOTHING = Selection(0, 0)


@dataclass(frozen=True, slots=True, order=True)
class QueryPosition:
    """A query's place in time; no two queries have the same place."""

    submitted_at: datetime
    query_id: UUID


@dataclass(frozen=True, slots=True)
class QuerySummary:
    """One query in a list; `sql` is its beginning.

    `queue` is its place in the queue of another replica, as that one reported it.
    """

    query_id: UUID
    sql: str
    state: QueryState
    submitted_at: datetime
    error_code: str | None = None
    queued_ms: int = 0
    elapsed_ms: int = 0
    row_count: int = 0
    tags: Mapping[str, str] = field(default_factory=dict)
    caller: str = ""
    queue: QueuePlace | None = None

    @property
    def position(self) -> QueryPosition:
        """The query's place among others."""
        return QueryPosition(self.submitted_at, self.query_id)


def summary_of(record: QueryRecord, elapsed_ms: int) -> QuerySummary:
    """Returns the record as an entry of a list."""
    return QuerySummary(
        query_id=record.query_id,
        sql=record.sql[:MAX_SQL_CHARACTERS],
        state=record.state,
        submitted_at=record.submitted_at,
        error_code=record.error.code if record.error else None,
        queued_ms=record.queued_ms,
        elapsed_ms=elapsed_ms,
        row_count=record.row_count,
        tags=record.tags,
        caller=record.caller,
    )


@dataclass(frozen=True, slots=True)
class QueryListing:
    """A selection of a caller's queries: at most `limit`, and only those `before` a place in time.

    Without a `caller`, it has the queries of all callers.
    """

    caller: str | None
    limit: int
    state: QueryState | None = None
    before: QueryPosition | None = None

    def takes(self, summary: QuerySummary) -> bool:
        """Returns whether the list includes this query."""
        is_before = self.before is None or summary.position < self.before
        return is_before and self.caller in (None, summary.caller) and self.state in (None, summary.state)


MAX_FREQUENT_BYTES = 16 * 1024
"""Longer texts do not count as frequent: thousands of them are sorted, and held, at once."""


@dataclass(frozen=True, slots=True)
class FrequentQuery:
    """A text that was asked more than other texts, and where its names are looked up."""

    sql: str
    catalog: str | None = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class FilteringQuery:
    """A text that was asked often, and the tables that the keys of one of its filters came from.

    `count` is the number of queries of this text that the filter was applied in.
    """

    query: FrequentQuery
    tables: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class TablePruning:
    """The scans of one table, and the outcomes of the filters that could have pruned them."""

    table: str
    query_count: int = 0
    scan_count: int = 0
    data_files: Selection = NOTHING
    bytes: Selection = NOTHING
    filters_by_reason: Mapping[Reason, int] = field(default_factory=dict)
    filters_by_source: Mapping[FilterSource, int] = field(default_factory=dict)
    collection_ms: int = 0

    @property
    def applied_count(self) -> int:
        """How many filters were applied."""
        return self.filters_by_reason.get(Reason.APPLIED, 0)


@dataclass(frozen=True, slots=True)
class PruningSummary:
    """The pruning of every table since a moment."""

    since: datetime
    tables: Sequence[TablePruning]
