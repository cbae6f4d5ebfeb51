"""The queries that were sent under a requestId, and that the book does not hold (any more)."""

from __future__ import annotations

from uuid import UUID

from service.errors import MetricsStoreDown
from service.model.query.query import QueryRecord
from service.ports import Clock, Journal, MetricsStore

STORE_REST_MS = 5_000


class KnownRequests:
    """Asks what lies nearest first: the journal in memory, then the metrics store.

    A store that did not answer is left alone for `STORE_REST_MS`: one query waits for it in vain, not each.
    Meanwhile a requestId that only the store knows counts as new, and its query runs again; it only reads.
    """

    def __init__(self, journal: Journal, metrics_store: MetricsStore, clock: Clock) -> None:
        self._journal = journal
        self._metrics_store = metrics_store
        self._clock = clock
        self._rests_until_ms = 0

    def find(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """The record of the query that this caller sent under this id, here or on another replica."""
        # In this order: a record leaves the journal only after the store has it.
        return self._journal.find_request(caller, request_id) or self._in_store(caller, request_id)

    def _in_store(self, caller: str, request_id: UUID) -> QueryRecord | None:
        if self._clock.elapsed_ms() < self._rests_until_ms:
            return None
        try:
            return self._metrics_store.find_request(caller, request_id)
        except MetricsStoreDown:
            self._rests_until_ms = self._clock.elapsed_ms() + STORE_REST_MS
            return None
