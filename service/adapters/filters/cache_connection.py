"""A connection to a Redis-protocol server, whose calls are short and fail in one way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.exceptions import ClusterDownError, LockError, RedisClusterException

from service.adapters.filters.cache_client import cache_client, close, ping
from service.adapters.filters.failure_count import FailureCount, FailureKind
from service.circuit import Circuit
from service.errors.unavailable import FilterCacheDown
from service.ports.clock import Clock

REST_MS = 1_000

# Errors that the client raises if the other side speaks another protocol.
_NONSENSE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
_FAILURES = (redis.RedisError, RedisClusterException, OSError, *_NONSENSE)
# Errors that another server, or the same one soon, would not give: it is not a master, or lacks a majority.
_AWAY = (redis.ReadOnlyError, ClusterDownError)


class CacheConnection:
    """Calls are made within `asking`. After a failure, they fail at once for a while. Any thread may call.

    `answer_within_s` bounds the wait for each answer.
    """

    def __init__(self, url: str, clock: Clock, answer_within_s: float) -> None:
        self.failures = FailureCount()
        self._circuit = Circuit(clock, REST_MS)
        self._last_failure = FilterCacheDown().detail
        self._url = url
        self._answer_within_s = answer_within_s
        self._opening = threading.Lock()
        self._opened: redis.Redis | None = None

    @property
    def client(self) -> redis.Redis:
        """The client; use it within `asking`."""
        # Created on first use: a cluster's client cannot be created without the cluster.
        if self._opened is None:
            with self._opening:
                if self._opened is None:
                    self._opened = cache_client(self._url, self._answer_within_s)
        return self._opened

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turns every failure of the block into FilterCacheDown, except LockError for a lost lease."""
        if not self._circuit.lets_through():
            raise FilterCacheDown(self._last_failure)
        try:
            yield
        except LockError:
            self._circuit.note_answer()
            raise
        except redis.ResponseError as refusal:
            if isinstance(refusal, _AWAY):
                raise self._failed(refusal) from refusal
            self.failures.add(FailureKind.REFUSED)
            self._circuit.note_answer()
            raise FilterCacheDown(_meaning(refusal)) from refusal
        except _FAILURES as failure:
            raise self._failed(failure) from failure
        self._circuit.note_answer()

    def _failed(self, failure: Exception) -> FilterCacheDown:
        self._drop_resting(failure)
        self.failures.add(FailureKind.NO_ANSWER)
        self._last_failure = _meaning(failure)
        self._circuit.note_failure()
        return FilterCacheDown(self._last_failure)

    def ping(self) -> None:
        """Checks whether it answers, even after a failure.

        Raises:
            FilterCacheDown: it does not answer; the error says why.
        """
        try:
            ping(self.client)
        except _FAILURES as failure:
            self._drop_resting(failure)
            raise FilterCacheDown(_meaning(failure)) from failure

    def close(self) -> None:
        """Closes all connections."""
        if self._opened is not None:
            close(self._opened)

    def _drop_resting(self, failure: Exception) -> None:
        """Closes idle connections, which may still hold the rest of an invalid answer.

        Connections to a former master are closed too: a new one goes to the server behind the address now.
        """
        # A cluster's client closes its own.
        pool = getattr(self._opened, "connection_pool", None)
        if pool is not None and isinstance(failure, (*_NONSENSE, redis.ReadOnlyError)):
            pool.disconnect(inuse_connections=False)


def _meaning(failure: Exception) -> str:
    match failure:
        case redis.AuthenticationError():
            return "The filter cache refuses the password."
        case redis.OutOfMemoryError():
            return "The filter cache is full."
        case redis.ReadOnlyError():
            return "The filter cache is a replica, and accepts no keys."
        case redis.ResponseError() if not isinstance(failure, ClusterDownError):
            return "The filter cache refuses to answer."
        case _:
            return "The filter cache does not answer."
