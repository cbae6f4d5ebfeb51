"""A journal that keeps every record, and writes them when a test says so."""

from __future__ import annotations

from uuid import UUID

from service.model.query.query import QueryRecord
from service.ports.stores.query_store import QueryStore


class FakeJournal:
    """Writes each record at once if given a store; without one, all records wait."""

    def __init__(self, store: QueryStore | None = None) -> None:
        self.records: list[QueryRecord] = []
        self.is_closed = False
        self._store = store

    @property
    def waiting(self) -> int:
        return 0 if self._store else len(self.records)

    @property
    def dropped(self) -> int:
        return 0

    def append(self, record: QueryRecord) -> None:
        self.records.append(record)
        if self._store:
            self._store.record([record])

    def find(self, query_id: UUID) -> QueryRecord | None:
        if self._store:
            return None
        return next((record for record in self.records if record.query_id == query_id), None)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        if self._store:
            return None
        asked = (caller, request_id)
        return next((record for record in self.records if (record.caller, record.request_id) == asked), None)

    def close(self) -> None:
        self.is_closed = True
