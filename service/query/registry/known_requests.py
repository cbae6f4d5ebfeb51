"""Finds queries sent under a requestId that the registry does not hold, or no longer holds."""

from __future__ import annotations

from uuid import UUID

from service.circuit import Circuit
from service.errors.unavailable import MetricsStoreDown
from service.model.query.query import QueryRecord
from service.ports.clock import Clock
from service.ports.stores.query_store import Journal, QueryStore

STORE_REST_MS = 5_000


class KnownRequests:
    """Looks first in the journal in memory, then in the metrics store.

    If the store does not answer, it is not asked for `STORE_REST_MS`, and then by one query at a time until
    it answers: one query waits for it in vain, not each. During that time a requestId that only the store
    knows counts as new. Its query runs again, which only reads.
    """

    def __init__(self, journal: Journal, metrics_store: QueryStore, clock: Clock) -> None:
        self._journal = journal
        self._metrics_store = metrics_store
        self._circuit = Circuit(clock, STORE_REST_MS)

    def find(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the record of the query that this caller sent under this id, here or at another replica."""
        # In this order: a record leaves the journal only after the store has it.
        return self._journal.find_request(caller, request_id) or self._circuit.ask(
            lambda: self._metrics_store.find_request(caller, request_id), MetricsStoreDown
        )
