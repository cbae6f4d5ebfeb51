"""Leases on a Redis-protocol server: which replica runs what several are asked for at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from service.adapters.filters.cache_connection import CacheConnection
from service.errors.unavailable import FilterCacheDown

LEASES = "sluice:reuse-lease:1:"
LEASE_MS = 4_000
"""If its holder dies, the others wait for the rest of this time."""

# Only its holder may prolong or end a lease: it may have expired, and belong to another one by now.
_RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end"
_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"


class RedisRunLeases:
    """Implements `service.ports.stores.reusable_results.RunLeases`. `store` is as in `RedisResultIndex`."""

    def __init__(self, connection: CacheConnection, store: str) -> None:
        self._connection = connection
        self._names = f"{LEASES}{store}:"

    def claim(self, name: str, holder: str) -> bool:
        """See the port."""
        try:
            with self._connection.asking():
                return bool(self._connection.client.set(self._names + name, holder, px=LEASE_MS, nx=True))
        except FilterCacheDown:
            return True

    def renew(self, held: Mapping[str, str]) -> None:
        """See the port."""
        for name, holder in held.items():
            with suppress(FilterCacheDown):
                self._eval(_RENEW, name, holder, str(LEASE_MS))

    def release(self, name: str, holder: str) -> None:
        """See the port."""
        with suppress(FilterCacheDown):
            self._eval(_RELEASE, name, holder)

    def held(self, names: Collection[str]) -> Collection[str]:
        """See the port."""
        asked = list(names)
        try:
            with self._connection.asking(), self._connection.client.pipeline(transaction=False) as pipeline:
                for name in asked:
                    pipeline.exists(self._names + name)
                answers = pipeline.execute(raise_on_error=False)
        except FilterCacheDown:
            return ()
        return {name for name, answer in zip(asked, answers, strict=True) if answer == 1}

    def _eval(self, script: str, name: str, *arguments: str) -> None:
        with self._connection.asking():
            client: Any = self._connection.client
            client.eval(script, 1, self._names + name, *arguments)
