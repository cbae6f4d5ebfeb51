"""Relations that are cached once they are fetched, with as many rows as a test sets."""

from __future__ import annotations

import pyarrow as pa

from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.policies.decisions import Access
from service.model.query.query import Parameters

BYTES_PER_ROW = 100


class FakeRelations:
    """Takes `row_counts` by fingerprint; a relation that is not listed has one row."""

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self.max_bytes = max_bytes
        self.row_counts: dict[str, int] = {}
        self.fetches: list[tuple[RelationQuery, Parameters]] = []
        self.puts: list[RelationQuery] = []
        self._cached: dict[str, CachedRelation] = {}

    def cached(self, fingerprint: str) -> CachedRelation | None:
        cached = self._cached.pop(fingerprint, None)
        if cached is not None:
            self._cached[fingerprint] = cached
        return cached

    def fetch(
        self,
        query: RelationQuery,
        parameters: Parameters,
        bounds: RelationBounds,
        access: Access,  # noqa: ARG002
    ) -> CachedRelation | None:
        self.fetches.append((query, parameters))
        return self._cache(query, bounds)

    def _cache(self, query: RelationQuery, bounds: RelationBounds) -> CachedRelation | None:
        count = self.row_counts.get(query.fingerprint, 1)
        if count > bounds.max_rows or count * BYTES_PER_ROW > bounds.max_bytes:
            return None
        cached = CachedRelation(query.fingerprint, count, count * BYTES_PER_ROW)
        self._cached[query.fingerprint] = cached
        while sum(relation.byte_count for relation in self._cached.values()) > self.max_bytes:
            del self._cached[next(iter(self._cached))]
        return cached

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        self.puts.append(query)
        self.row_counts[query.fingerprint] = rows.num_rows
        return self._cache(query, bounds)

    def lose(self) -> None:
        """Empties the cache, as the loss of the engine does."""
        self._cached.clear()
