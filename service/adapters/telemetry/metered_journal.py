"""A journal that counts what passes through it."""

from __future__ import annotations

from uuid import UUID

from service.model.query.query import QueryRecord
from service.ports import Journal, Meters


class MeteredJournal:
    """The `Journal` port over another one: every query's record comes by here, once."""

    def __init__(self, journal: Journal, meters: Meters) -> None:
        self._journal = journal
        self._meters = meters

    def append(self, record: QueryRecord) -> None:
        """Counts the record and hands it on."""
        self._meters.count(record)
        self._journal.append(record)

    def find(self, query_id: UUID) -> QueryRecord | None:
        """A record that still waits to be written."""
        return self._journal.find(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """The same, by the id that this caller gave the request."""
        return self._journal.find_request(caller, request_id)

    def close(self) -> None:
        """Closes the other one."""
        self._journal.close()
