"""Collects the keys that a test put; for any other query it returns None, so another collector must do it."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from service.errors.query_errors import QueryCanceled
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import DynamicFilteringData, Key
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.query.query import Parameters
from service.ports.filters.filter_keys import KeysAndRows


class FakeKeyCollector:
    def __init__(self, max_keys: int = 1_000) -> None:
        self._max_keys = max_keys
        self._reported: dict[str, tuple[Key, ...]] = {}
        self._rows: dict[str, pa.Table] = {}
        self.collected: list[str] = []

    def put(self, filtering_query: str, keys: tuple[Key, ...]) -> None:
        self._reported[filtering_query] = keys

    def forget(self, filtering_query: str) -> None:
        """Removes the keys of this query, so that another collector must collect them."""
        del self._reported[filtering_query]

    def put_rows(self, relation_sql: str, rows: pa.Table) -> None:
        """Puts rows that can be read in one pass with any keys that a test put."""
        self._rows[relation_sql] = rows

    def collect_with_rows(
        self,
        wanted: DynamicFilter,
        relation: RelationQuery,
        bounds: RelationBounds,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> KeysAndRows | None:
        rows = self._rows.get(relation.sql)
        keys = None if rows is None else self.collect(wanted, parameters, is_canceled)
        if rows is None or keys is None:
            return None
        are_few = rows.num_rows <= bounds.max_rows and rows.nbytes <= bounds.max_bytes
        return KeysAndRows(keys, rows if are_few and keys.is_filtering else None)

    def collect(
        self,
        wanted: DynamicFilter,
        parameters: Parameters,  # noqa: ARG002
        is_canceled: Callable[[], bool],
    ) -> DynamicFilteringData | None:
        keys = self._reported.get(wanted.filtering_query)
        if keys is None:
            return None
        if is_canceled():
            raise QueryCanceled
        self.collected.append(wanted.filtering_query)
        if len(keys) > self._max_keys:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        values = {key for key in keys if None not in key}
        has_null = wanted.is_null_safe and len(values) < len(set(keys))
        return DynamicFilteringData(tuple(sorted(values)), is_filtering=True, has_null=has_null)
