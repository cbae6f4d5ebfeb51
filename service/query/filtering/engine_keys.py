"""Collects keys of build sides by queries of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from service.errors.query_errors import QueryFailed
from service.model.filters.dynamic_filter import DynamicFilter, KeyDependency
from service.model.filters.key_set import DynamicFilteringData, Key
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.policies.decisions import Access
from service.model.query.query import Parameters
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.ports.filters.filter_keys import KeysAndRows
from service.pruning.build_side.cached_rows_query import cached_rows_query
from service.pruning.build_side.chained_query import chained_query
from service.pruning.build_side.kept_rows_query import KeptRowsQuery
from service.pruning.build_side.range_queries import STRIPES, bounds_query, stripes_query, widest_gaps
from service.query.filtering.engine_switches import AGGREGATES_OF_STATISTICS, switched_off
from service.query.filtering.one_reading import OneReading

if TYPE_CHECKING:
    import pyarrow as pa

# The least memory of a key, so that the bound on bytes also bounds the rows.
KEY_BYTES = 16
# Room for two keys of each stripe, and more: an incomplete list of stripes is useless.
FEW_BYTES = 1 << 20
LOOK_EVERY_S = 0.2
# The name of the rows in memory in a query for their keys.
ROWS_NAME = "sluice_rows_of_keys"


@dataclass(frozen=True, slots=True)
class Collecting:
    """For which query keys are collected, and what it may see of tables.

    `within_s`: how long it waits, if not the operator's default. `with_rows` are the relations that are
    cached together with the keys. `is_rehearsal`: no caller asked for them now.
    """

    parameters: Parameters
    is_canceled: Callable[[], bool]
    access: Access
    within_s: float | None = None
    with_rows: OneReading = field(default_factory=OneReading)
    is_rehearsal: bool = False


class EngineKeys:
    """Collects any keys. If they weigh too much, keeps a bounded number of ranges instead."""

    def __init__(self, engine: Engine, max_filter_bytes: int, max_ranges: int) -> None:
        self._engine = engine
        self._max_filter_bytes = max_filter_bytes
        self._max_ranges = max_ranges

    def chained(
        self, wanted: DynamicFilter, key_dependencies: Iterable[tuple[KeyDependency, DynamicFilteringData]]
    ) -> DynamicFilter:
        """Restricts the filter's query to the rows that the keys of chained filters leave of its tables."""
        return replace(
            wanted, filtering_query=chained_query(wanted.filtering_query, key_dependencies, self._max_ranges)
        )

    def collect(self, wanted: DynamicFilter, asked: Collecting) -> DynamicFilteringData:
        """Returns the keys; of too many, the ranges that they lie in.

        Raises:
            GatewayError: the engine failed, was lost, or the query was canceled.
        """
        rows_at_most = self._max_filter_bytes // KEY_BYTES
        result = self._run(self._statement(wanted, asked, wanted.filtering_query, rows_at_most))
        if result.is_truncated:
            return self.ranges(wanted, asked)
        return _distinct(result.rows, wanted.is_null_safe)

    def collect_with_rows(
        self, wanted: DynamicFilter, query: KeptRowsQuery, bounds: RelationBounds, asked: Collecting
    ) -> KeysAndRows | None:
        """Returns the keys and the rows that have them; None if there are too many rows.

        Raises:
            GatewayError: as in `collect`.
        """
        rows_at_most = min(bounds.max_rows, self._max_filter_bytes // KEY_BYTES)
        statement = self._statement(wanted, asked, query.distinct_sql, rows_at_most)
        byte_limit = min(bounds.max_bytes, self._max_filter_bytes)
        result = self._run(replace(statement, byte_limit=byte_limit))
        return None if result.is_truncated else _keys_and_rows(result.rows, wanted, query)

    def collect_from_rows(
        self,
        wanted: DynamicFilter,
        relation: RelationQuery,
        asked: Collecting,
        query: KeptRowsQuery | None = None,
    ) -> KeysAndRows | None:
        """Returns the keys from rows that the engine caches; None if the keys do not come from these.

        With a `query`, also the rows that have the keys; all of its columns must be cached.

        Raises:
            GatewayError: as in `collect`.
        """
        text = wanted.filtering_query if query is None else query.distinct_sql
        sql = cached_rows_query(text, relation, ROWS_NAME)
        if sql is None:
            return None
        statement = self._statement(wanted, asked, sql, self._max_filter_bytes // KEY_BYTES)
        result = self._run(replace(statement, relations={ROWS_NAME: relation.fingerprint}))
        return None if result.is_truncated else _keys_and_rows(result.rows, wanted, query)

    def ranges(self, wanted: DynamicFilter, asked: Collecting) -> DynamicFilteringData:
        """Returns the ranges of keys that are too many to keep; NULL may be among them.

        Raises:
            GatewayError: as in `collect`.
        """
        sql, key_types = wanted.filtering_query, wanted.key_types
        if len(key_types) > 1:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        found = self._few(wanted, asked, bounds_query(sql))
        if not found:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        stripes_sql = stripes_query(sql, key_types[0], found[0])
        if stripes_sql is not None:
            found = self._few(wanted, asked, stripes_sql) or found
        ranges = widest_gaps(found, self._max_ranges)
        return DynamicFilteringData((), True, True, ranges, has_null=wanted.is_null_safe)

    def _few(self, wanted: DynamicFilter, asked: Collecting, sql: str) -> list[Key]:
        """Returns all rows of the query without NULL; none if they are too many or too large."""
        statement = self._statement(wanted, asked, sql, 2 * STRIPES)
        result = self._run(replace(statement, byte_limit=max(self._max_filter_bytes, FEW_BYTES)))
        return [] if result.is_truncated else [key for key in _keys(result.rows) if None not in key]

    def _run(self, statement: Statement) -> EngineResult:
        """Runs the statement, and ends it soon after the keys are no longer needed."""
        has_ended = threading.Event()

        def watch() -> None:
            while not has_ended.wait(LOOK_EVERY_S):
                if statement.is_canceled():
                    self._engine.cancel(statement.query_id)

        watcher = threading.Thread(target=watch, name="collection-watch", daemon=True)
        watcher.start()
        try:
            return self._engine.run(statement)
        finally:
            has_ended.set()

    def _statement(self, wanted: DynamicFilter, asked: Collecting, sql: str, row_limit: int) -> Statement:
        return Statement(
            # A separate id: giving up a collection must not end the query's own jobs.
            query_id=uuid4(),
            sql=sql,
            parameters=used_parameters(asked, wanted),
            catalog=None,
            schema=None,
            row_limit=row_limit,
            byte_limit=self._max_filter_bytes,
            is_canceled=asked.is_canceled,
            access=asked.access,
            properties=switched_off(AGGREGATES_OF_STATISTICS),
            is_rehearsal=asked.is_rehearsal,
        )


def used_parameters(asked: Collecting, wanted: DynamicFilter) -> Parameters:
    """Returns the query's parameters that the build side needs."""
    if not isinstance(asked.parameters, Mapping):
        return ()
    return {name: parameter for name, parameter in asked.parameters.items() if name in wanted.parameter_names}


def _keys_and_rows(rows: pa.Table, wanted: DynamicFilter, query: KeptRowsQuery | None) -> KeysAndRows:
    if query is None:
        return KeysAndRows(_distinct(rows, wanted.is_null_safe), None)
    keys = rows.select(list(range(len(wanted.build.columns))))
    return KeysAndRows(_distinct(keys, wanted.is_null_safe), rows.rename_columns(list(query.columns)))


def _distinct(rows: pa.Table, is_null_safe: bool) -> DynamicFilteringData:
    keys = set(_keys(rows))
    values = sorted(key for key in keys if None not in key)
    has_null = is_null_safe and len(values) < len(keys)
    return DynamicFilteringData(tuple(values), is_filtering=True, has_null=has_null)


def _keys(rows: pa.Table) -> list[Key]:
    try:
        columns = [_values(column) for column in rows.columns]
    except (ValueError, OverflowError) as failure:
        raise QueryFailed("A key is a day or a time that only the engine can hold.") from failure
    return list(zip(*columns, strict=True))


def _values(column: pa.ChunkedArray[Any]) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if getattr(column.type, "tz", None) is None:
        return values
    # In another zone, both 02:30 of the night in which clocks go back are equal to Python.
    return [None if value is None else value.astimezone(UTC) for value in values]
