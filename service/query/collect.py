"""Filters' keys, collected in parallel, from the cache or from the build side, within a bound of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from service.errors import FilterCacheDown, FilterCollectionTimedOut, GatewayError, QueryFailed
from service.model.filtering import DynamicFilter, DynamicFilteringData, FilterOutcome, Key, Reason
from service.model.query import Parameters
from service.ports import Clock, Engine, FilterCache, Statement
from service.pruning.range_queries import bounds_query, gaps_query, ranges_between

if TYPE_CHECKING:
    import pyarrow as pa

log = structlog.get_logger(__name__)

# What a key takes in memory at least, so that the bound on bytes is one on rows too.
KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Collecting:
    """For whom keys are collected."""

    query_id: UUID
    parameters: Parameters
    is_canceled: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class CollectorBounds:
    """How long a query waits for its filters, and how much a filter's keys may weigh.

    Of heavier ones, so many ranges at most are kept.
    """

    timeout_s: float
    max_filter_bytes: int
    max_ranges: int


class Collector:
    """Collects keys. A failure is an outcome with a reason, never an exception."""

    def __init__(
        self, engine: Engine, cache: FilterCache, executor: Executor, clock: Clock, bounds: CollectorBounds
    ) -> None:
        self._engine = engine
        self._cache = cache
        self._executor = executor
        self._clock = clock
        self._bounds = bounds
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

        Filters with the same keys are collected once.
        """
        began_ms = self._clock.elapsed_ms()
        futures: dict[str, Future[FilterOutcome]] = {}
        for each in filters:
            if each.fingerprint not in futures:
                futures[each.fingerprint] = self._executor.submit(self._obtain, each, asked)
        wait(futures.values(), timeout=self._bounds.timeout_s)
        outcomes = {each.filter_id: _outcome(futures[each.fingerprint]) for each in filters}
        return outcomes, self._clock.elapsed_ms() - began_ms

    def _obtain(self, wanted: DynamicFilter, asked: Collecting) -> FilterOutcome:
        if wanted.fingerprint in self._disabled:
            return FilterOutcome.none(Reason.DISABLED)
        began_ms = self._clock.elapsed_ms()
        try:
            found = self._cache.obtain(wanted, lambda: self._collected(wanted, asked), self._bounds.timeout_s)
        except FilterCollectionTimedOut:
            return FilterOutcome.none(Reason.COLLECT_TIMED_OUT)
        except GatewayError as failure:
            log.info("filter_not_collected", code=failure.code, build=wanted.build.predicate)
            return FilterOutcome.none(Reason.COLLECT_FAILED)
        took_ms = self._clock.elapsed_ms() - began_ms
        reason = Reason.APPLIED if found.data.is_filtering else Reason.THRESHOLD_EXCEEDED
        return FilterOutcome(found.data, found.source, reason, took_ms, found.byte_count, found.note)

    def _collected(self, wanted: DynamicFilter, asked: Collecting) -> DynamicFilteringData:
        rows_at_most = self._bounds.max_filter_bytes // KEY_BYTES
        result = self._engine.run(self._statement(wanted, asked, wanted.filtering_query, rows_at_most))
        if result.is_truncated:
            return self._ranges(wanted, asked)
        return DynamicFilteringData(tuple(sorted(_keys(result.rows))), is_filtering=True)

    def _ranges(self, wanted: DynamicFilter, asked: Collecting) -> DynamicFilteringData:
        """Between which values the keys lie, which are too many to be kept."""
        sql = wanted.filtering_query
        gaps_sql = gaps_query(sql, wanted.key_types[0], self._bounds.max_ranges - 1)
        if len(wanted.key_types) > 1:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        [bounds] = _keys(self._engine.run(self._statement(wanted, asked, bounds_query(sql), 1)).rows)
        gaps: Sequence[Key] = ()
        if gaps_sql is not None:
            statement = self._statement(wanted, asked, gaps_sql, self._bounds.max_ranges)
            gaps = _keys(self._engine.run(statement).rows)
        return DynamicFilteringData(
            (), is_filtering=True, exceeds_threshold=True, ranges=ranges_between(bounds, gaps)
        )

    def _statement(self, wanted: DynamicFilter, asked: Collecting, sql: str, row_limit: int) -> Statement:
        return Statement(
            query_id=asked.query_id,
            sql=sql,
            parameters=_used(asked.parameters, wanted.parameter_names),
            catalog=None,
            schema=None,
            row_limit=row_limit,
            byte_limit=self._bounds.max_filter_bytes,
            is_canceled=asked.is_canceled,
        )


def _outcome(future: Future[FilterOutcome]) -> FilterOutcome:
    if not future.done():
        # It goes on, and the next query that needs these keys finds them.
        return FilterOutcome.none(Reason.COLLECT_TIMED_OUT)
    return future.result()


def _used(parameters: Parameters, names: frozenset[str]) -> Parameters:
    if not isinstance(parameters, Mapping):
        return ()
    return {name: each for name, each in parameters.items() if name in names}


def _keys(rows: pa.Table) -> list[Key]:
    try:
        columns = [column.to_pylist() for column in rows.columns]
    except (ValueError, OverflowError) as failure:
        raise QueryFailed("A key is a day or a time that only the engine can hold.") from failure
    return list(zip(*columns, strict=True))
