"""Ports of writes by SQL: where they are recorded, and how a table tells of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from service.model.tables.tables import TableName
from service.model.writes.writes import WriteOutcome, WriteRecord


class WriteLog(Protocol):
    """Keeps writes. Each method raises MetricsStoreDown if the store does not answer."""

    def begin(self, record: WriteRecord) -> WriteRecord:
        """Keeps a write before it begins, and returns it.

        If this caller has begun one under the same requestId before, returns that one, and keeps nothing.
        """

    def end(
        self, query_id: UUID, outcome: WriteOutcome, error_code: str | None, error_detail: str | None
    ) -> None:
        """Keeps how a write ended. A final state stays as it is."""

    def find(self, query_id: UUID) -> WriteRecord | None:
        """Returns the write of a query."""

    def find_request(self, caller: str, request_id: UUID) -> WriteRecord | None:
        """Returns the write that this caller has sent under this requestId."""

    def forget_before(self, moment: datetime) -> int:
        """Deletes writes that began earlier, and returns how many."""


@dataclass(frozen=True, slots=True)
class MarkedCommit:
    """A snapshot with the mark of a query.

    `had_deletes`: whether the table had delete files before it; None: that is not known.
    """

    snapshot_id: int
    summary: Mapping[str, str] = field(default_factory=dict)
    had_deletes: bool | None = None


@dataclass(frozen=True, slots=True)
class FoundMark:
    """The answer of a table's snapshots about a query. `commit` is None if none has its mark.

    `is_complete`: no snapshot since the moment that was asked for is missing, so that None means that there
    was none.
    """

    commit: MarkedCommit | None
    is_complete: bool


class CommitMarks(Protocol):
    """Finds the commits of queries in the snapshots of tables."""

    def find(self, table: TableName, query_id: UUID, since: datetime) -> FoundMark:
        """Looks for the mark of a query that began at this moment, in the table as it is now.

        Raises:
            TableNotFound: there is no such table, or no longer.
            CatalogDown: the catalog does not answer.
        """
