"""Queries of other replicas whose end callers wait for here."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from uuid import UUID

from service.errors.unavailable import MetricsStoreDown
from service.ports.stores.replicas import SharedQueries


class WatchedQueries:
    """Any thread may call any method."""

    def __init__(self, replicas: SharedQueries) -> None:
        self._replicas = replicas
        self._lock = threading.Lock()
        self._watched: dict[UUID, Future[None]] = {}
        self._is_released = False

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._watched)

    def watch(self, query_id: UUID) -> Future[None]:
        """Returns a future that resolves when the query is no longer open at any replica, or on `release`.

        All callers share it: never cancel it.
        """
        with self._lock:
            if self._is_released:
                left: Future[None] = Future()
                left.set_result(None)
                return left
            return self._watched.setdefault(query_id, Future())

    def release(self) -> None:
        """Releases all callers that wait, now and from now on: they can ask another replica."""
        with self._lock:
            self._is_released = True
            watched, self._watched = self._watched, {}
        for future in watched.values():
            future.set_result(None)

    def look(self) -> None:
        """Resolves those that are no longer open, if the store says which are."""
        with self._lock:
            watched = tuple(self._watched)
        if not watched:
            return
        try:
            still_open = self._replicas.find(watched)
        except MetricsStoreDown:
            return
        with self._lock:
            ended = [self._watched.pop(id_, None) for id_ in watched if id_ not in still_open]
        for future in filter(None, ended):
            future.set_result(None)
