"""Filters' keys, collected in parallel, from the cache or from the build side, within a bound of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import suppress

import structlog

from service.errors import FilterCacheDown, FilterCollectionTimedOut, GatewayError
from service.model.filtering import (
    DynamicFilter,
    DynamicFilteringData,
    FilterOutcome,
    FilterSource,
    ObtainedKeys,
    Reason,
)
from service.ports import Clock, FilterCache, KeyCollector
from service.query.engine_keys import Collecting, EngineKeys, used_parameters

log = structlog.get_logger(__name__)


class Collector:
    """Collects keys. A failure is an outcome with a reason, never an exception."""

    def __init__(
        self,
        reader: KeyCollector,
        engine_keys: EngineKeys,
        cache: FilterCache,
        executor: Executor,
        clock: Clock,
        timeout_s: float,
    ) -> None:
        self._reader = reader
        self._engine_keys = engine_keys
        self._cache = cache
        self._executor = executor
        self._clock = clock
        self._timeout_s = timeout_s
        self._disabled: frozenset[str] = frozenset()

    def disable(self, fingerprints: frozenset[str]) -> None:
        """Gives these keys to no query any more, and forgets them for all replicas."""
        self._disabled |= fingerprints
        for each in fingerprints:
            with suppress(FilterCacheDown):
                self._cache.forget(each)

    def collect(
        self, filters: Sequence[DynamicFilter], asked: Collecting
    ) -> tuple[Mapping[str, FilterOutcome], int]:
        """An outcome for each filter, by its id, and the milliseconds that all took together.

        Filters with the same keys are collected once. One that another feeds waits for that other's keys.
        """
        # Only what waits for nobody is waited for, so no two wait for one another.
        leaves = {each.fingerprint: each for each in filters if not each.feeds and each.is_cacheable}
        began_ms = self._clock.elapsed_ms()
        futures: dict[str, Future[FilterOutcome]] = {}
        for each in filters:
            if each.fingerprint not in futures:
                futures[each.fingerprint] = self._executor.submit(self._obtain, each, asked, leaves)
        wait(futures.values(), timeout=self._within_s(asked))
        outcomes = {each.filter_id: _outcome(futures[each.fingerprint]) for each in filters}
        return outcomes, self._clock.elapsed_ms() - began_ms

    def cached(self, filters: Sequence[DynamicFilter]) -> Mapping[str, FilterOutcome]:
        """An outcome, by its id, for each filter whose keys are in the cache; none is collected."""
        usable = (each for each in filters if each.is_cacheable and each.fingerprint not in self._disabled)
        found = ((each, self._cache.cached(each)) for each in usable)
        return {each.filter_id: _applied(keys, 0) for each, keys in found if keys is not None}

    def _within_s(self, asked: Collecting) -> float:
        return self._timeout_s if asked.within_s is None else min(asked.within_s, self._timeout_s)

    def _obtain(
        self, wanted: DynamicFilter, asked: Collecting, leaves: Mapping[str, DynamicFilter]
    ) -> FilterOutcome:
        if wanted.fingerprint in self._disabled:
            return FilterOutcome.none(Reason.DISABLED)
        began_ms = self._clock.elapsed_ms()

        def collected() -> DynamicFilteringData:
            return self._collected(wanted, asked, leaves)

        try:
            if wanted.is_cacheable:
                found = self._cache.obtain(wanted, collected, self._within_s(asked))
            else:
                found = ObtainedKeys(collected(), FilterSource.COLLECTED, 0)
        except FilterCollectionTimedOut:
            return FilterOutcome.none(Reason.COLLECT_TIMED_OUT)
        except GatewayError as failure:
            log.info("filter_not_collected", code=failure.code, build=wanted.build.predicate)
            return FilterOutcome.none(Reason.COLLECT_FAILED)
        return _applied(found, self._clock.elapsed_ms() - began_ms)

    def _collected(
        self, wanted: DynamicFilter, asked: Collecting, leaves: Mapping[str, DynamicFilter]
    ) -> DynamicFilteringData:
        """Read from the build side's files where that is possible: the engine needs ten times as long."""
        keys = self._reader.collect(wanted, used_parameters(asked, wanted), asked.is_canceled)
        if keys is None:
            feeds = [each for each in wanted.feeds if each.fingerprint in leaves]
            obtained = ((each, self._obtain(leaves[each.fingerprint], asked, {}).data) for each in feeds)
            return self._engine_keys.collect(self._engine_keys.fed(wanted, obtained), asked)
        return self._engine_keys.ranges(wanted, asked) if keys.exceeds_threshold else keys


def _applied(found: ObtainedKeys, took_ms: int) -> FilterOutcome:
    reason = Reason.APPLIED if found.data.is_filtering else Reason.THRESHOLD_EXCEEDED
    return FilterOutcome(found.data, found.source, reason, took_ms, found.byte_count, found.note)


def _outcome(future: Future[FilterOutcome]) -> FilterOutcome:
    if not future.done():
        # It goes on, and the next query that needs these keys finds them.
        return FilterOutcome.none(Reason.COLLECT_TIMED_OUT)
    return future.result()
