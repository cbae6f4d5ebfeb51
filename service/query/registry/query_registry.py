"""The registry of queries that the gateway holds: waiting, running, or ended a short while ago."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from itertools import islice, takewhile
from uuid import UUID

from service.idempotency import sent_before
from service.query.registry.query_handle import QueryHandle


def no_place(query: QueryHandle) -> None:
    """Takes none."""


class QueryRegistry:
    """Finds queries by id or by their caller's requestId; removes ended ones in time.

    A query stays until `retention_ms` after its end. At most `max_ended` queries without a result stay; the
    oldest of them are removed early, because their records say the same. Queries with a result are not
    removed early, as the result would be lost. A query whose record has given its requestId back is found by
    its id only.
    """

    def __init__(self, retention_ms: int, max_ended: int = 100_000) -> None:
        self._retention_ms = retention_ms
        self._max_ended = max_ended
        self._lock = threading.Lock()
        self._queries: dict[UUID, QueryHandle] = {}
        self._by_request: dict[tuple[str, UUID], QueryHandle] = {}
        # Each of `_queries` is in exactly one of these, so that no call walks more than it needs. Ended
        # queries are in the order of their ends.
        self._open: dict[UUID, QueryHandle] = {}
        self._with_result: dict[UUID, QueryHandle] = {}
        self._without_result: dict[UUID, QueryHandle] = {}

    def add(self, query: QueryHandle, reserve: Callable[[QueryHandle], None] = no_place) -> QueryHandle:
        """Adds the query; returns the earlier one if the caller sent the same requestId before.

        `reserve` takes a place for a query that is new, or raises TooManyQueries: then it is not added.

        Raises:
            RequestIdReused: the earlier query has another body.
            TooManyQueries: there is no place for it.
        """
        with self._lock:
            before = self._sent_before(query)
            if before is not None:
                return before
            reserve(query)
            self._queries[query.query_id] = self._open[query.query_id] = query
            if query.request.request_id is not None:
                self._by_request[query.caller, query.request.request_id] = query
        # By id, not by reference: without a reference cycle, a forgotten query is freed at once.
        query.finished.add_done_callback(partial(self._close, query.query_id))
        return query

    def find(self, query_id: UUID) -> QueryHandle | None:
        """Returns the query with this id, while it is held."""
        return self._queries.get(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryHandle | None:
        """Returns the query that the caller sent under this id, while it is held."""
        with self._lock:
            return self._by_request.get((caller, request_id))

    def sent_before(self, query: QueryHandle) -> QueryHandle | None:
        """Returns the query that the caller sent under the same requestId, while it is held.

        Raises:
            RequestIdReused: that query has another body.
        """
        with self._lock:
            return self._sent_before(query)

    def open(self) -> list[QueryHandle]:
        """Lists queries that have not ended, oldest first."""
        with self._lock:
            return [handle for handle in self._open.values() if not handle.record.state.is_final]

    def lose_result(self, query: QueryHandle) -> None:
        """Treats the query as one without a result: the result store evicted it."""
        query.lose_result()
        with self._lock:
            if self._with_result.pop(query.query_id, None) is not None:
                self._without_result[query.query_id] = query

    def forget(self, query_id: UUID) -> None:
        """Removes an ended query early: only its record counts from now on."""
        with self._lock:
            query = self._queries.get(query_id)
            if query is not None and query_id not in self._open:
                self._forget((query,))

    def forget_ended(self, now_ms: int) -> list[UUID]:
        """Removes expired queries, and the oldest surplus ones without a result; returns their ids."""
        with self._lock:
            surplus = max(0, len(self._without_result) - self._max_ended)
            forgotten = self._forget(islice(self._without_result.values(), surplus))
            for ended in (self._with_result, self._without_result):
                forgotten += self._forget(takewhile(partial(self._is_over, now_ms), ended.values()))
            return forgotten

    def _close(self, query_id: UUID, _: Future[None]) -> None:
        with self._lock:
            query = self._open.pop(query_id)
            ended = self._with_result if query.has_result() else self._without_result
            ended[query_id] = query
            if query.record.request_id is None:
                self._release_request(query)

    def _is_over(self, now_ms: int, query: QueryHandle) -> bool:
        return query.ended_ms is not None and query.ended_ms + self._retention_ms < now_ms

    def _forget(self, queries: Iterable[QueryHandle]) -> list[UUID]:
        forgotten = list(queries)
        for query in forgotten:
            del self._queries[query.query_id]
            self._with_result.pop(query.query_id, None)
            self._without_result.pop(query.query_id, None)
            self._release_request(query)
        return [handle.query_id for handle in forgotten]

    def _release_request(self, query: QueryHandle) -> None:
        request_id = query.request.request_id
        if request_id is not None and self._by_request.get((query.caller, request_id)) is query:
            del self._by_request[query.caller, request_id]

    def _sent_before(self, query: QueryHandle) -> QueryHandle | None:
        return sent_before(
            lambda *request: self._by_request.get(request),
            query.caller,
            query.request.request_id,
            query.fingerprint,
        )
