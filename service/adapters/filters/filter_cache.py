"""The filter cache on a Redis-protocol server, with a layer in this process in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice

from service.adapters.filters.cache_server import FilterServer
from service.adapters.filters.codec import HEAD_BYTES, StoredKeys, decode_head
from service.adapters.filters.entry_head import Rubbish
from service.adapters.filters.key_set_rows_on_server import KeptRowsOnServer
from service.adapters.filters.local_layer import LocalLayer
from service.adapters.filters.shared_keys import FoundKeys, SharedKeys
from service.errors.query_errors import FilterCollectionTimedOut, QueryCanceled, QueryTimedOut
from service.errors.unavailable import FilterCacheDown
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import (
    CachedFilter,
    DynamicFilteringData,
    EarlierKeys,
    FilterSource,
    ObtainedKeys,
)
from service.model.operations.health import PartHealth, PartState
from service.model.operations.usage import CacheUse
from service.ports.clock import Clock
from service.single_flight import SingleFlight

NAME = "filterCache"
# Queries that began before a commit still use the keys from before it.
SUPERSEDED_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCacheBounds:
    """How long keys are stored, how large a value may be, and how many bytes of keys this process caches.

    `answer_within_s` bounds each wait for the server; a query goes on without it then.
    """

    time_to_live: timedelta = timedelta(hours=24)
    value_bytes: int = 33 * 1024 * 1024
    local_bytes: int = 64 * 1024 * 1024
    answer_within_s: float = 0.4


class RedisFilterCache:
    """The `FilterCache` port."""

    def __init__(self, url: str, clock: Clock, bounds: FilterCacheBounds) -> None:
        self._server = FilterServer(url, clock, bounds.answer_within_s)
        self._local = LocalLayer(bounds.local_bytes, self._server, clock)
        self._kept = KeptRowsOnServer(self._server, bounds.time_to_live, bounds.value_bytes)
        self._shared = SharedKeys(self._server, clock, bounds.time_to_live, bounds.value_bytes)
        # Such an end of one query says nothing about the keys that another query waits for.
        personal = (QueryCanceled, QueryTimedOut, FilterCollectionTimedOut)
        self._calls: SingleFlight[str, FoundKeys] = SingleFlight(personal, FilterCollectionTimedOut)

    @property
    def failures(self) -> Mapping[str, int]:
        """How often the server has failed since the start, by kind."""
        return self._server.failures.by_kind()

    @property
    def kept_rows(self) -> KeptRowsOnServer:
        """The kept rows of key sets, on the same server."""
        return self._kept

    @property
    def cache_use(self) -> CacheUse:
        """The use of this process's local layer."""
        return self._local.use

    def obtain(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> ObtainedKeys:
        """See the port."""
        stored = self._local.get(wanted.fingerprint)
        if stored is not None:
            return _obtained(stored, FilterSource.CACHED)
        found, is_ours = self._calls.join(
            wanted.fingerprint, lambda: self._find(wanted, collect, within_s), within_s
        )
        is_collected = is_ours and found.is_collected
        source = FilterSource.COLLECTED if is_collected else FilterSource.CACHED
        return _obtained(found.keys, source, found.note)

    def in_memory(self, fingerprint: str) -> ObtainedKeys | None:
        """See the port."""
        stored = self._local.get(fingerprint)
        return None if stored is None else _obtained(stored, FilterSource.CACHED)

    def cached(self, wanted: DynamicFilter) -> ObtainedKeys:
        """See the port."""
        shelf = self._local.shelf()
        stored = self._local.get(wanted.fingerprint)
        if stored is None:
            stored, note = self._shared.find(wanted)
            if stored is None:
                return ObtainedKeys.none(note)
            shelf.put(wanted.fingerprint, stored)
        return _obtained(stored, FilterSource.CACHED)

    def earlier(self, wanted: DynamicFilter) -> EarlierKeys | None:
        """See the port."""
        latest = self._shared.latest(wanted)
        if latest is None or latest.fingerprint == wanted.fingerprint:
            return None
        found = self.cached(replace(wanted, fingerprint=latest.fingerprint))
        if found.source is FilterSource.NONE:
            return None
        return EarlierKeys(latest.fingerprint, found.data, latest.snapshots)

    def supersede(self, fingerprint: str) -> None:
        """See the port."""
        with suppress(FilterCacheDown):
            self._server.supersede(fingerprint, SUPERSEDED_FOR)

    def forget(self, fingerprint: str | None) -> int:
        """See the port."""
        self._local.forget()
        try:
            return self._server.forget(fingerprint)
        finally:
            # Again: in the meantime a value may have been read that is deleted now.
            self._local.forget()

    def entries(self, limit: int) -> Sequence[CachedFilter]:
        """See the port."""
        return sorted(islice(self._shown(), limit), key=lambda shown: shown.created_at, reverse=True)

    def health(self) -> PartHealth:
        """Checks within a second whether the server answers."""
        try:
            self._server.ping()
        except FilterCacheDown as down:
            return PartHealth(NAME, PartState.DOWN, down.detail)
        return PartHealth(NAME, PartState.UP)

    def close(self) -> None:
        """Closes all connections."""
        self._server.close()

    def _shown(self) -> Iterator[CachedFilter]:
        # An entry may be listed twice if others are stored during the listing.
        listed: set[str] = set()
        for beginning in self._server.beginnings(HEAD_BYTES):
            with suppress(Rubbish):
                shown = decode_head(beginning).shown
                if shown.fingerprint not in listed:
                    listed.add(shown.fingerprint)
                    yield shown

    def _find(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> FoundKeys:
        # A call that ended just before this one began has left its keys here.
        stored = self._local.get(wanted.fingerprint)
        if stored is not None:
            return FoundKeys(stored)
        shelf = self._local.shelf()
        found = self._shared.find_or_collect(wanted, collect, within_s)
        shelf.put(wanted.fingerprint, found.keys)
        return found


def _obtained(keys: StoredKeys, source: FilterSource, note: str = "") -> ObtainedKeys:
    return ObtainedKeys(keys.data, source, keys.byte_count, note)
