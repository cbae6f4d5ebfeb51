"""The cache of filters' keys, which replicas share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import CachedFilter, DynamicFilteringData, EarlierKeys, ObtainedKeys
from service.model.operations.health import PartHealth


class FilterCache(Protocol):
    """Shares the keys of dynamic filters among all queries of all replicas."""

    def obtain(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> ObtainedKeys:
        """Returns the keys under `wanted.fingerprint`: from this process, from the server, or from `collect`.

        When several ask for the same keys, one collects and the others wait at most `within_s`. The keys are
        stored unless `collect` raises. If the cache is down, slow, full or corrupt, the keys are collected;
        the `note` says why, and `collect` gets the note as far as it is known by then.

        Raises:
            Exception: the error of `collect`, from this call or the one waited for; never the end of that
                other call's own query.
            FilterCollectionTimedOut: another call collects, and was not done in time.
        """

    def in_memory(self, fingerprint: str) -> ObtainedKeys | None:
        """Returns the keys at once if this process has them; no other process is asked."""

    def cached(self, wanted: DynamicFilter) -> ObtainedKeys:
        """Returns the keys if they are cached now; None if not, or if the cache fails, with a `note`.

        It does not wait for a running collection.
        """

    def earlier(self, wanted: DynamicFilter) -> EarlierKeys | None:
        """Returns the keys of `wanted.series` that were stored last, if they are still cached.

        None also if the cache fails.
        """

    def supersede(self, fingerprint: str) -> None:
        """Lets the keys expire in minutes: later ones of their series are stored. Never raises."""

    def forget(self, fingerprint: str | None) -> int:
        """Deletes one entry, or all, and returns how many there were. Other replicas follow within seconds.

        Raises:
            FilterCacheDown: this process has forgotten them, but the server may not have.
        """

    def entries(self, limit: int) -> Sequence[CachedFilter]:
        """Lists the newest stored entries, at most `limit`, the newest first.

        Raises:
            FilterCacheDown: the cache does not answer.
        """

    def health(self) -> PartHealth:
        """Asks the server, within a second."""
