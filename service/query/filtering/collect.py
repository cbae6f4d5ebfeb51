"""Collects the keys of filters in parallel, from the cache or the build side, within a bound of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import FilterCollectionTimedOut, QueryCanceled, QueryQuarantined
from service.errors.unavailable import FilterCacheDown
from service.model.filters.dynamic_filter import DynamicFilter, KeyDependency
from service.model.filters.filter_record import FilterOutcome, Reason
from service.model.filters.key_set import DynamicFilteringData, FilterSource, ObtainedKeys
from service.ports.clock import Clock
from service.ports.filters.filter_cache import FilterCache
from service.ports.filters.filter_keys import KeyCarrier, KeyCollector
from service.query.filtering.awaited_keys import AwaitedKeys
from service.query.filtering.engine_keys import Collecting, EngineKeys
from service.query.filtering.kept_sets import KeptSets
from service.query.filtering.uncached_keys import DependencyKeys, UncachedData, UncachedKeys
from service.tracing import Span, carried, step

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectBounds:
    """In seconds: how long a query waits for its filters, and how long one collection runs for all."""

    wait_s: float
    collect_s: float


class _Notes:
    """Notes on the cache from before keys are collected: all that is known of a collection that is late.

    Also maps filters' fingerprints to the keys that this query found, with their source.
    """

    def __init__(self) -> None:
        self._heard: dict[str, str] = {}
        self.uncached: dict[str, UncachedData] = {}

    def hear(self, wanted: DynamicFilter, note: str) -> None:
        self._heard[wanted.fingerprint] = note

    def of(self, fingerprint: str) -> str:
        return self._heard.get(fingerprint, "")


class Collector:
    """Collects keys. A failure is an outcome with a reason, never an exception."""

    def __init__(
        self,
        reader: KeyCollector,
        engine_keys: EngineKeys,
        cache: FilterCache,
        executor: Executor,
        clock: Clock,
        bounds: CollectBounds,
        carrier: KeyCarrier | None = None,
        kept_sets: KeptSets | None = None,
    ) -> None:
        self._uncached = UncachedKeys(reader, engine_keys, cache, carrier, kept_sets)
        self._cache = cache
        self._executor = executor
        self._clock = clock
        self._bounds = bounds
        self._awaited = AwaitedKeys()
        self._disabled: frozenset[str] = frozenset()

    def disable(self, fingerprints: frozenset[str]) -> None:
        """Stops using these keys for any query, and deletes them for all replicas.

        So it does with the sets that they were found in, since the rows of these may be wrong.
        """
        fingerprints |= self._uncached.sources_of(fingerprints)
        self._disabled |= fingerprints
        for fingerprint in fingerprints:
            with suppress(FilterCacheDown):
                self._cache.forget(fingerprint)

    def collect(
        self, filters: Sequence[DynamicFilter], cached_only: Sequence[DynamicFilter], asked: Collecting
    ) -> tuple[Mapping[str, FilterOutcome], int]:
        """Returns an outcome for each filter, by its id, and the milliseconds that all took together.

        Filters with the same keys are collected once. A filter whose keys depend on another's waits for
        those. `cached_only` filters are never collected: without keys in the cache they have no outcome,
        unless the cache failed.
        """
        # A collection waits only for those that wait for none, so no two wait for each other.
        leaves = {
            filter_.fingerprint: filter_
            for filter_ in filters
            if not filter_.key_dependencies and filter_.is_cacheable
        }
        collected = {filter_.fingerprint for filter_ in filters}
        began_ms = self._clock.elapsed_ms()
        found: dict[str, FilterOutcome] = {}
        futures: dict[str, Future[FilterOutcome | None]] = {}
        notes = _Notes()
        for filter_ in (*filters, *cached_only):
            if filter_.fingerprint in found or filter_.fingerprint in futures:
                continue
            # Keys that this process has do not queue behind collections.
            known = self._in_memory(filter_)
            if known is not None:
                found[filter_.fingerprint] = known
            elif filter_.fingerprint in collected:
                futures[filter_.fingerprint] = self._submitted(filter_, asked, leaves, notes)
            else:
                futures[filter_.fingerprint] = self._executor.submit(carried(self._cached), filter_)
        wait(futures.values(), timeout=self._within_s(asked))
        for fingerprint, future in futures.items():
            outcome = _outcome(future, notes.of(fingerprint))
            if outcome is not None:
                found[fingerprint] = outcome
        outcomes = {
            filter_.filter_id: found[filter_.fingerprint]
            for filter_ in (*filters, *cached_only)
            if filter_.fingerprint in found
        }
        return outcomes, self._clock.elapsed_ms() - began_ms

    def prefetch(
        self, wanted: DynamicFilter, leaves: Mapping[str, DynamicFilter], asked: Collecting, within_s: float
    ) -> FilterOutcome:
        """Collects the keys of one filter, and waits at most `within_s` for them.

        `leaves` are the filters whose keys may be collected first for it. `asked.within_s` is how long it
        waits for another collection of the same keys.
        """
        known = self._in_memory(wanted)
        if known is not None:
            return known
        notes = _Notes()
        future = self._submitted(wanted, asked, leaves, notes)
        wait([future], timeout=within_s)
        return _outcome(future, notes.of(wanted.fingerprint)) or FilterOutcome.none(Reason.COLLECT_FAILED)

    def _submitted(
        self,
        wanted: DynamicFilter,
        asked: Collecting,
        leaves: Mapping[str, DynamicFilter],
        notes: _Notes,
    ) -> Future[FilterOutcome | None]:
        def submit() -> Future[FilterOutcome | None]:
            return self._executor.submit(carried(self._obtain), wanted, asked, leaves, notes)

        return submit() if asked.is_rehearsal else self._awaited.submit(wanted.fingerprint, submit)

    def _in_memory(self, wanted: DynamicFilter) -> FilterOutcome | None:
        """Returns what this process knows of the filter."""
        if wanted.fingerprint in self._disabled:
            return FilterOutcome.none(Reason.DISABLED)
        keys = self._cache.in_memory(wanted.fingerprint) if wanted.is_cacheable else None
        return None if keys is None else _applied(keys, 0)

    def _cached(self, wanted: DynamicFilter) -> FilterOutcome | None:
        with step("sluice.filter") as span:
            found = self._cached_now(wanted)
            if span.is_recorded:
                _report(span, wanted, found)
            return found

    def _cached_now(self, wanted: DynamicFilter) -> FilterOutcome | None:
        keys = self._cache.cached(wanted) if wanted.is_cacheable else ObtainedKeys.none()
        if keys.source is FilterSource.NONE:
            return FilterOutcome.none(Reason.NOT_WORTH_COLLECTING, keys.note) if keys.note else None
        return _applied(keys, 0)

    def _within_s(self, asked: Collecting) -> float:
        wait_s = self._bounds.wait_s
        return wait_s if asked.within_s is None else min(asked.within_s, wait_s)

    def _obtain(
        self,
        wanted: DynamicFilter,
        asked: Collecting,
        leaves: Mapping[str, DynamicFilter],
        notes: _Notes,
    ) -> FilterOutcome:
        with step("sluice.filter") as span:
            found = self._obtained(wanted, asked, leaves, notes)
            if span.is_recorded:
                _report(span, wanted, found)
            return found

    def _obtained(
        self,
        wanted: DynamicFilter,
        asked: Collecting,
        leaves: Mapping[str, DynamicFilter],
        notes: _Notes,
    ) -> FilterOutcome:
        if wanted.fingerprint in self._disabled:
            return FilterOutcome.none(Reason.DISABLED)
        began_ms = self._clock.elapsed_ms()
        until_ms = began_ms + 1000 * self._bounds.collect_s
        bounded = replace(
            asked,
            is_canceled=lambda: self._is_given_up(wanted, asked) or self._clock.elapsed_ms() > until_ms,
        )

        def collected(note: str = "") -> DynamicFilteringData:
            notes.hear(wanted, note)

            def dependency_keys() -> Iterator[tuple[KeyDependency, DynamicFilteringData]]:
                return self._dependency_keys(wanted, bounded, leaves, notes)

            with step("sluice.filter.collect"):
                data = self._found(wanted, bounded, dependency_keys)
            notes.uncached[wanted.fingerprint] = data
            return data.data

        try:
            if wanted.is_cacheable:
                found = self._cache.obtain(wanted, collected, self._within_s(asked))
            else:
                found = ObtainedKeys(collected(), FilterSource.COLLECTED, 0)
        except FilterCollectionTimedOut:
            return FilterOutcome.none(Reason.COLLECT_TIMED_OUT, notes.of(wanted.fingerprint))
        except GatewayError as failure:
            log.info("filter_not_collected", code=failure.code, fingerprint=wanted.fingerprint)
            # Nobody waits for the keys of a rehearsal, so these are never late.
            may_be_late = isinstance(failure, QueryCanceled) and not asked.is_rehearsal
            is_late = may_be_late and not asked.is_canceled()
            reason = Reason.COLLECT_TIMED_OUT if is_late else Reason.COLLECT_FAILED
            return FilterOutcome.none(reason, notes.of(wanted.fingerprint))
        outcome = _applied(found, self._clock.elapsed_ms() - began_ms)
        uncached = notes.uncached.get(wanted.fingerprint)
        return outcome if uncached is None else _with_source(outcome, uncached)

    def _found(
        self, wanted: DynamicFilter, asked: Collecting, dependency_keys: Callable[[], DependencyKeys]
    ) -> UncachedData:
        try:
            return self._uncached.find(wanted, asked, self._is_disabled, dependency_keys)
        except QueryQuarantined as refused:
            if asked.is_rehearsal:
                # The text may run for a query, so a query that has joined this collection starts again.
                raise QueryCanceled from refused
            raise

    def _is_given_up(self, wanted: DynamicFilter, asked: Collecting) -> bool:
        # A query that has joined the collection of a rehearsal would have to start again.
        is_joined = asked.is_rehearsal and wanted.fingerprint in self._awaited
        return asked.is_canceled() and not is_joined

    def _is_disabled(self, fingerprint: str) -> bool:
        return fingerprint in self._disabled

    def _dependency_keys(
        self, wanted: DynamicFilter, asked: Collecting, leaves: Mapping[str, DynamicFilter], notes: _Notes
    ) -> Iterator[tuple[KeyDependency, DynamicFilteringData]]:
        """Yields the keys that the filter's own collection can be filtered by."""
        for dependency in wanted.key_dependencies:
            if dependency.fingerprint in leaves:
                yield dependency, self._obtain(leaves[dependency.fingerprint], asked, {}, notes).data


def _report(span: Span, wanted: DynamicFilter, found: FilterOutcome | None) -> None:
    span.note(
        {
            "sluice.filter_id": wanted.filter_id,
            "sluice.probe_table": str(wanted.probe.table),
            "sluice.build_tables": list(map(str, wanted.build.tables)),
        }
    )
    if found is not None:
        span.note(
            {
                "sluice.source": found.source.value,
                "sluice.reason": found.reason.value,
                "sluice.keys": found.data.key_count,
            }
        )


def _applied(found: ObtainedKeys, took_ms: int) -> FilterOutcome:
    reason = Reason.APPLIED if found.data.is_filtering else Reason.THRESHOLD_EXCEEDED
    return FilterOutcome(found.data, found.source, reason, took_ms, found.byte_count, found.note)


def _with_source(outcome: FilterOutcome, uncached: UncachedData) -> FilterOutcome:
    """Returns the outcome of a query that found the keys itself, unless another one was faster."""
    if outcome.source is FilterSource.COLLECTED:
        outcome = replace(outcome, source=uncached.source, detail=uncached.detail)
    return replace(outcome, rows_read=uncached.rows_read)


def _outcome(future: Future[FilterOutcome | None], note: str) -> FilterOutcome | None:
    # A late collection that has not begun leaves the queue: those behind it would be late as well.
    if future.cancel():
        return FilterOutcome.none(Reason.COLLECT_TIMED_OUT, note)
    if not future.done():
        # A running one goes on for a while, for this query's scans and for the next query with these keys.
        return replace(FilterOutcome.none(Reason.COLLECT_TIMED_OUT, note), later=future)
    try:
        return future.result()
    except Exception as failure:  # the outermost edge of a collection: the other filters are unaffected
        log.exception("filter_collection_failed", error=type(failure).__name__)
        return FilterOutcome.none(Reason.COLLECT_FAILED, note)
