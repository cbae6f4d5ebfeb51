"""Keys of build sides, collected by a query of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from service.errors import QueryFailed
from service.model.filtering import DynamicFilter, DynamicFilteringData, Key
from service.model.query import Parameters
from service.ports import Engine, Statement
from service.pruning.range_queries import bounds_query, gaps_query, ranges_between

if TYPE_CHECKING:
    import pyarrow as pa

# What a key takes in memory at least, so that the bound on bytes is one on rows too.
KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Collecting:
    """For whom keys are collected."""

    query_id: UUID
    parameters: Parameters
    is_canceled: Callable[[], bool]


class EngineKeys:
    """Collects any keys. Of those that weigh too much, so many ranges at most are kept."""

    def __init__(self, engine: Engine, max_filter_bytes: int, max_ranges: int) -> None:
        self._engine = engine
        self._max_filter_bytes = max_filter_bytes
        self._max_ranges = max_ranges

    def collect(self, wanted: DynamicFilter, asked: Collecting) -> DynamicFilteringData:
        """The keys; of too many, the ranges that they lie in.

        Raises:
            GatewayError: the engine failed, was lost, or the query was canceled.
        """
        rows_at_most = self._max_filter_bytes // KEY_BYTES
        result = self._engine.run(self._statement(wanted, asked, wanted.filtering_query, rows_at_most))
        if result.is_truncated:
            return self._ranges(wanted, asked)
        return DynamicFilteringData(tuple(sorted(_keys(result.rows))), is_filtering=True)

    def _ranges(self, wanted: DynamicFilter, asked: Collecting) -> DynamicFilteringData:
        """Between which values the keys lie, which are too many to be kept."""
        sql = wanted.filtering_query
        gaps_sql = gaps_query(sql, wanted.key_types[0], self._max_ranges - 1)
        if len(wanted.key_types) > 1:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        [bounds] = _keys(self._engine.run(self._statement(wanted, asked, bounds_query(sql), 1)).rows)
        gaps: Sequence[Key] = ()
        if gaps_sql is not None:
            statement = self._statement(wanted, asked, gaps_sql, self._max_ranges)
            gaps = _keys(self._engine.run(statement).rows)
        return DynamicFilteringData(
            (), is_filtering=True, exceeds_threshold=True, ranges=ranges_between(bounds, gaps)
        )

    def _statement(self, wanted: DynamicFilter, asked: Collecting, sql: str, row_limit: int) -> Statement:
        return Statement(
            query_id=asked.query_id,
            sql=sql,
            parameters=used_parameters(asked, wanted),
            catalog=None,
            schema=None,
            row_limit=row_limit,
            byte_limit=self._max_filter_bytes,
            is_canceled=asked.is_canceled,
        )


def used_parameters(asked: Collecting, wanted: DynamicFilter) -> Parameters:
    """Those of the query's parameters that the build side needs."""
    if not isinstance(asked.parameters, Mapping):
        return ()
    return {name: each for name, each in asked.parameters.items() if name in wanted.parameter_names}


def _keys(rows: pa.Table) -> list[Key]:
    try:
        columns = [column.to_pylist() for column in rows.columns]
    except (ValueError, OverflowError) as failure:
        raise QueryFailed("A key is a day or a time that only the engine can hold.") from failure
    return list(zip(*columns, strict=True))
