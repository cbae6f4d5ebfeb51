"""The queries that the gateway holds: waiting, running, and ended a short while ago."""

from __future__ import annotations

import threading
from uuid import UUID

from service.errors import RequestIdReused, TooManyQueries
from service.model.query import QueryState
from service.query.live import LiveQuery


class QueryBook:
    """Finds queries by their id and by their caller's requestId; forgets the ended ones in time."""

    def __init__(self, max_waiting: int, retention_ms: int, max_ended: int = 10_000) -> None:
        self._max_waiting = max_waiting
        self._retention_ms = retention_ms
        self._max_ended = max_ended
        self._lock = threading.Lock()
        self._queries: dict[UUID, LiveQuery] = {}
        self._by_request: dict[tuple[str, UUID], LiveQuery] = {}

    def add(self, query: LiveQuery) -> LiveQuery:
        """Takes the query in; or gives the one that came before under the same requestId.

        Raises:
            RequestIdReused: that one asked something else.
            TooManyQueries: as many as may wait do so already.
        """
        with self._lock:
            before = self._sent_before(query)
            if before is not None:
                return before
            if sum(each.record.state is QueryState.QUEUED for each in self._open()) >= self._max_waiting:
                raise TooManyQueries
            self._queries[query.query_id] = query
            if query.request.request_id is not None:
                self._by_request[query.caller, query.request.request_id] = query
            return query

    def find(self, query_id: UUID) -> LiveQuery | None:
        """The query of this id, while it is held."""
        return self._queries.get(query_id)

    def open(self) -> list[LiveQuery]:
        """Those that have not ended, oldest first."""
        with self._lock:
            return self._open()

    def forget_ended(self, now_ms: int) -> list[UUID]:
        """Drops those that ended long enough ago, and the oldest of too many; which."""
        with self._lock:
            ended = [each for each in self._queries.values() if each.ended_ms is not None]
            surplus = len(ended) - self._max_ended
            old = [
                each
                for position, each in enumerate(ended)
                if position < surplus or (each.ended_ms or 0) + self._retention_ms < now_ms
            ]
            for query in old:
                del self._queries[query.query_id]
                if query.request.request_id is not None:
                    del self._by_request[query.caller, query.request.request_id]
            return [each.query_id for each in old]

    def _open(self) -> list[LiveQuery]:
        return [each for each in self._queries.values() if not each.record.state.is_final]

    def _sent_before(self, query: LiveQuery) -> LiveQuery | None:
        if query.request.request_id is None:
            return None
        before = self._by_request.get((query.caller, query.request.request_id))
        if before is not None and before.record.fingerprint != query.record.fingerprint:
            raise RequestIdReused
        return before
