"""The Redis-protocol server that holds the keys. Each call is short, and fails in one way."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import islice

import redis
from redis.exceptions import ClusterDownError, LockError, RedisClusterException

from service.adapters.filters.cache_client import cache_client, close, ping
from service.adapters.filters.failure_count import FailureCount, FailureKind
from service.adapters.filters.lease import LEASE_S, Lease
from service.adapters.filters.newest import NewestValues, is_of_another_type
from service.circuit import Circuit
from service.errors.unavailable import FilterCacheDown
from service.ports.clock import Clock

# The number is the version of the values: replicas of two versions do not share them.
VALUES = "sluice:filter:1:"
SERIES = "sluice:filter-series:1:"
LEASES = "sluice:filter-lease:1:"
GENERATION = "sluice:filter-generation:1"

REST_MS = 1_000
SCANNED_AT_ONCE = 1000

# Errors that the client raises if the other side speaks another protocol.
_NONSENSE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
_FAILURES = (redis.RedisError, RedisClusterException, OSError, *_NONSENSE)
# Errors that another server, or the same one soon, would not give: it is not a master, or lacks a majority.
_AWAY = (redis.ReadOnlyError, ClusterDownError)


class FilterServer:
    """Every method but `ping` and `close` raises FilterCacheDown; at once if the server has just failed."""

    def __init__(self, url: str, clock: Clock, answer_within_s: float) -> None:
        self.failures = FailureCount()
        self._circuit = Circuit(clock, REST_MS)
        self._last_failure = FilterCacheDown().detail
        self._url = url
        self._answer_within_s = answer_within_s
        self._opening = threading.Lock()
        self._opened: redis.Redis | None = None

    @property
    def _client(self) -> redis.Redis:
        # Created on first use: a cluster's client cannot be created without the cluster.
        if self._opened is None:
            with self._opening:
                if self._opened is None:
                    self._opened = cache_client(self._url, self._answer_within_s)
        return self._opened

    @property
    def _newest(self) -> NewestValues:
        return NewestValues(self._client)

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

    def read(self, fingerprint: str) -> bytes | None:
        """Returns the value; empty if a key of another type has the name."""
        return self._read(VALUES + fingerprint)

    def latest(self, series: str) -> bytes | None:
        """Returns the note on the value of the series that was stored last."""
        return self._read(SERIES + series)

    def supersede(self, fingerprint: str, within: timedelta) -> None:
        """Lets the value expire within that time."""
        with self.asking():
            self._client.pexpire(VALUES + fingerprint, within, lt=True)

    def _read(self, key: str) -> bytes | None:
        with self.asking():
            try:
                value = self._client.get(key)
            except redis.ResponseError as refusal:
                if not is_of_another_type(refusal):
                    raise
                return b""
        return _raw(value)

    def write(
        self,
        fingerprint: str,
        value: bytes,
        at: datetime,
        time_to_live: timedelta,
        latest_of: tuple[str, bytes] | None = None,
    ) -> None:
        """Stores the value, and replaces whatever is there.

        `latest_of` is the series that it is the latest value of, and the note on it.
        """
        with self.asking(), self._client.pipeline(transaction=False) as pipeline:
            pipeline.set(VALUES + fingerprint, value, px=time_to_live)
            if latest_of is not None:
                pipeline.set(SERIES + latest_of[0], latest_of[1], px=time_to_live)
            self._newest.add(pipeline, fingerprint, at, time_to_live)
            stored, *indexed = pipeline.execute(raise_on_error=False)
            if isinstance(stored, redis.RedisError):
                raise stored
            if latest_of is not None:
                indexed = indexed[1:]
            self._newest.mend(indexed)

    def claim(self, fingerprint: str) -> Lease | None:
        """Returns the right to collect these keys, unless another replica has it."""
        with self.asking():
            lock = self._client.lock(
                LEASES + fingerprint, timeout=LEASE_S, blocking=False, thread_local=False
            )
            return Lease(lock, self.asking) if lock.acquire() else None

    def forget(self, fingerprint: str | None) -> int:
        """Deletes one value, or all, and returns how many there were."""
        with self.asking():
            if fingerprint is not None:
                count = int(self._client.unlink(VALUES + fingerprint))
            else:
                count = sum(int(self._client.unlink(*batch)) for batch in self._batches())
            # Last: a replica that sees the new generation does not find any of the deleted values.
            self._client.set(GENERATION, secrets.token_bytes(16))
        return count

    def generation(self) -> bytes | None:
        """A token that changes after each `forget` of any replica."""
        with self.asking():
            return _raw(self._client.get(GENERATION))

    def beginnings(self, length: int) -> Iterator[bytes]:
        """Yields the first `length` bytes of each value, the latest value first, and reads lazily."""
        fingerprints: Iterator[Sequence[str]] | None = None
        while True:
            with self.asking():
                fingerprints = fingerprints or self._newest.fingerprints()
                batch = next(fingerprints, ())
                answers = self._beginnings(batch, length)
            if not batch:
                return
            yield from answers

    def _beginnings(self, fingerprints: Sequence[str], length: int) -> Sequence[bytes]:
        with self._client.pipeline(transaction=False) as pipeline:
            for fingerprint in fingerprints:
                pipeline.getrange(VALUES + fingerprint, 0, length - 1)
            answers = pipeline.execute(raise_on_error=False)
        return [answer for answer in answers if isinstance(answer, bytes) and answer]

    def ping(self) -> None:
        """Checks whether it answers, even after a failure.

        Raises:
            FilterCacheDown: it does not answer; the error says why.
        """
        try:
            ping(self._client)
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

    def _keys(self) -> Iterator[bytes]:
        seen: set[bytes] = set()
        for key in self._client.scan_iter(match=f"{VALUES}*", count=SCANNED_AT_ONCE):
            # A scan may name a key twice.
            if key not in seen:
                seen.add(key)
                yield key

    def _batches(self) -> Iterator[Sequence[bytes]]:
        keys = self._keys()
        while batch := list(islice(keys, SCANNED_AT_ONCE)):
            yield batch


def _raw(value: object) -> bytes | None:
    """Returns bytes, because the client decodes nothing; anything else is not a value of this cache."""
    return value if value is None or isinstance(value, bytes) else b""


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
