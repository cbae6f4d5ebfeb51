"""The queries of this replica that the store has as open, with the states in which they were reported."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from service.model.query.query import QueryState
from service.query.registry.query_handle import QueryHandle


@dataclass(frozen=True, slots=True)
class _Reported:
    query: QueryHandle
    state: QueryState


class ReportedQueries:
    """Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reported: dict[UUID, _Reported] = {}

    def __bool__(self) -> bool:
        """Whether there is one."""
        return bool(self._reported)

    def __contains__(self, query_id: object) -> bool:
        """Whether the query was reported, and not dropped since."""
        return query_id in self._reported

    def put(self, query: QueryHandle, state: QueryState) -> None:
        """Notes that the query was reported in this state."""
        with self._lock:
            self._reported[query.query_id] = _Reported(query, state)

    def drop(self, query_ids: Iterable[UUID]) -> None:
        """Forgets queries that the store does not have any more."""
        with self._lock:
            for query_id in query_ids:
                self._reported.pop(query_id, None)

    def all(self) -> list[QueryHandle]:
        """Lists the queries."""
        with self._lock:
            return [reported.query for reported in self._reported.values()]

    def among(self, query_ids: Collection[UUID]) -> list[QueryHandle]:
        """Lists those that have one of these ids."""
        return [query for query in self.all() if query.query_id in query_ids]

    def has_changed(self, query: QueryHandle) -> bool:
        """Whether a reported query has another state by now."""
        reported = self._reported.get(query.query_id)
        return reported is not None and reported.state is not query.record.state
