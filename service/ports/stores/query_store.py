"""The records of queries, and how they get there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from service.model.operations.health import PartHealth
from service.model.query.history import (
    FilteringQuery,
    FrequentQuery,
    QueryListing,
    QuerySummary,
    TablePruning,
)
from service.model.query.query import QueryRecord
from service.model.query.scan_metrics import ScanRecord


class QueryStore(Protocol):
    """Keeps the records of queries."""

    def record(self, records: Sequence[QueryRecord]) -> None:
        """Writes all of them or none; a record that exists stays as it is.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns the record of one query.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the record of the query that this caller sent under this id.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def forget_before(self, moment: datetime) -> int:
        """Deletes older records and returns how many.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def health(self) -> PartHealth:
        """Asks the store, within a second."""


class QueryHistory(Protocol):
    """Looks back on recorded queries."""

    def queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Lists a caller's recorded queries, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def pruning(self, since: datetime, table: str | None) -> Sequence[TablePruning]:
        """Lists, by name, every table that was scanned since then, or whose scans could have been pruned.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def frequent(self, since: datetime, limit: int, within_ms: int) -> Sequence[FrequentQuery]:
        """Lists the texts that ran and succeeded most often since then, the most frequent first.

        Only the newest 20,000 queries count that took at most `within_ms` in the engine and whose text has at
        most 16 KiB. Those that an earlier result answered do not.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def scans(self, since: datetime, table: str, limit: int) -> Sequence[ScanRecord]:
        """Lists the scans of a table that ran since then, those of the newest queries first.

        Only queries count that succeeded, and that no earlier result answered. Row groups are left out.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def filtering(self, since: datetime, limit: int, at_least: int) -> Sequence[FilteringQuery]:
        """Lists texts and the tables of their keys, of queries since then, the most frequent first.

        Only filters that were applied count, in `at_least` queries that succeeded. Only the newest 20,000
        queries count whose text has at most 16 KiB.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class Journal(Protocol):
    """Takes records without making a query wait for the metrics store."""

    def append(self, record: QueryRecord) -> None:
        """Keeps the record until it is written. Never blocks or raises; when full, drops the oldest."""

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns a record that still waits to be written."""

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns such a record by the id that this caller gave the request."""

    def close(self) -> None:
        """Writes the waiting records, within a bound."""
