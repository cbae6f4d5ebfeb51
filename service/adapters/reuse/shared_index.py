"""An index of kept results that all replicas share, on a Redis-protocol server."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import redis

from service.adapters.filters.cache_connection import CacheConnection
from service.adapters.filters.newest import is_of_another_type
from service.adapters.reuse.entry_codec import decode, encode
from service.adapters.reuse.local_index import LocalResultIndex
from service.errors.unavailable import FilterCacheDown
from service.model.operations.usage import CacheUse
from service.model.query.reuse import ReusableResult

# The number is the version of the values: replicas of two versions do not share them.
ENTRIES = "sluice:reuse:1:"
NEWEST = "sluice:reuse-newest:1:"
TRIMMED_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIndexBounds:
    """How long an entry lives, how large it may be, and how many there may be of one result store."""

    time_to_live: timedelta = timedelta(minutes=10)
    entry_bytes: int = 256 << 10
    max_entries: int = 100_000


class RedisResultIndex:
    """Implements `service.ports.stores.reusable_results.ResultIndex`.

    Entries are hints: the result store says whether a result may be read under a key. If the server does not
    answer, or does not take an entry, the results of this process are found in its own index.
    """

    def __init__(
        self, connection: CacheConnection, store: str, local: LocalResultIndex, bounds: SharedIndexBounds
    ) -> None:
        """`store` is the same text for all replicas that read the same results."""
        self._connection = connection
        self._entries = f"{ENTRIES}{store}:"
        self._newest = f"{NEWEST}{store}"
        self._local = local
        self._bounds = bounds

    def find(self, key: str) -> ReusableResult | None:
        """See the port."""
        return self._shared(key) or self._local.find(key)

    def put(self, key: str, result: ReusableResult) -> None:
        """See the port."""
        self._local.put(key, result)
        value = encode(key, result)
        if len(value) > self._bounds.entry_bytes:
            # An older entry of the same key would hide this one.
            self._forget(key)
            return
        with suppress(FilterCacheDown):
            self._write(key, value, result.taken_at.timestamp())

    def drop(self, key: str, query_id: UUID) -> None:
        """See the port."""
        self._local.drop(key, query_id)
        found = self._shared(key)
        if found is not None and found.query_id == query_id:
            self._forget(key)

    def clear(self) -> int:
        """See the port."""
        count = self._local.clear()
        # Results that are kept while this runs may stay.
        for _ in range(0, self._bounds.max_entries + TRIMMED_AT_ONCE, TRIMMED_AT_ONCE):
            with self._connection.asking():
                if not self._trim_newest():
                    break
        return count

    def _trim_newest(self) -> int:
        client = self._connection.client
        try:
            return self._trim(client, TRIMMED_AT_ONCE)
        except redis.ResponseError as refusal:
            if not is_of_another_type(refusal):
                raise
            client.unlink(self._newest)
            return 0

    @property
    def use(self) -> CacheUse:
        """See the port: the results of this process."""
        return self._local.use

    def _shared(self, key: str) -> ReusableResult | None:
        try:
            with self._connection.asking():
                value = self._connection.client.get(self._entries + key)
        except FilterCacheDown:
            return None
        is_bounded = isinstance(value, bytes) and len(value) <= self._bounds.entry_bytes
        return decode(key, value) if is_bounded and isinstance(value, bytes) else None

    def _forget(self, key: str) -> None:
        with suppress(FilterCacheDown), self._connection.asking():
            self._connection.client.unlink(self._entries + key)

    def _write(self, key: str, value: bytes, at: float) -> None:
        with self._connection.asking():
            client = self._connection.client
            with client.pipeline(transaction=False) as pipeline:
                pipeline.set(self._entries + key, value, px=self._bounds.time_to_live)
                pipeline.zadd(self._newest, {key: at})
                pipeline.pexpire(self._newest, self._bounds.time_to_live)
                pipeline.zcard(self._newest)
                stored, added, _, count = pipeline.execute(raise_on_error=False)
            if isinstance(stored, redis.RedisError):
                raise stored
            if isinstance(added, redis.ResponseError) and is_of_another_type(added):
                client.unlink(self._newest)
            elif isinstance(count, int) and count > self._bounds.max_entries:
                self._trim(client, min(count - self._bounds.max_entries, TRIMMED_AT_ONCE))

    def _trim(self, client: redis.Redis, count: int) -> int:
        """Deletes the oldest entries, and returns how many. Those that have expired since count, too."""
        # The client's types also know answers of other protocols and settings.
        popped: list[tuple[bytes, float]] = cast(Any, client).zpopmin(self._newest, count)
        for oldest, _ in popped:
            client.unlink(self._entries + oldest.decode(errors="replace"))
        return len(popped)
