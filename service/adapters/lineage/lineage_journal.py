"""A journal that reports the queries that pass through it."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from service.model.query.query import QueryRecord
from service.ports.stores.query_store import Journal
from service.ports.telemetry.lineage import Lineage


class LineageJournal:
    """The `Journal` port around another one: every query's record passes here once."""

    def __init__(self, journal: Journal, lineage: Lineage) -> None:
        self._journal = journal
        self._lineage = lineage

    def append(self, record: QueryRecord) -> None:
        """Reports the query and passes its record on, without the part that only lineage needs."""
        self._lineage.query_ended(record)
        self._journal.append(replace(record, lineage=None))

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns a record that still waits to be written."""
        return self._journal.find(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the same, by the id that this caller gave the request."""
        return self._journal.find_request(caller, request_id)

    def close(self) -> None:
        """Closes the other journal."""
        self._journal.close()
