"""A journal that counts the records that pass through it."""

from __future__ import annotations

from uuid import UUID

from service.model.query.query import QueryRecord
from service.ports.stores.query_store import Journal
from service.ports.telemetry.query_metrics import Metrics


class MeteredJournal:
    """The `Journal` port around another one: every query's record passes here once."""

    def __init__(self, journal: Journal, metrics: Metrics) -> None:
        self._journal = journal
        self._metrics = metrics

    def append(self, record: QueryRecord) -> None:
        """Counts the record and passes it on."""
        self._metrics.count(record)
        self._journal.append(record)

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns a record that still waits to be written."""
        return self._journal.find(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the same, by the id that this caller gave the request."""
        return self._journal.find_request(caller, request_id)

    def close(self) -> None:
        """Closes the other journal."""
        self._journal.close()
