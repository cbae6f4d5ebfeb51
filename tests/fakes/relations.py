"""Relations that are cached once they are fetched, with as many rows as a test sets."""

from __future__ import annotations

import pyarrow as pa

from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.query.query import Parameters

BYTES_PER_ROW = 100


class FakeRelations:
    """Takes `row_counts` by fingerprint; a relation that is not listed has one row."""

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self.max_bytes = max_bytes
        self.row_counts: dict[str, int] = {}
        self.fetches: list[tuple[RelationQuery, Parameters]] = []
        self.puts: list[RelationQuery] = []
        self._held: dict[str, CachedRelation] = {}

    def held(self, fingerprint: str) -> CachedRelation | None:
        held = self._held.pop(fingerprint, None)
        if held is not None:
            self._held[fingerprint] = held
        return held

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds
    ) -> CachedRelation | None:
        self.fetches.append((query, parameters))
        return self._keep(query, bounds)

    def _keep(self, query: RelationQuery, bounds: RelationBounds) -> CachedRelation | None:
        count = self.row_counts.get(query.fingerprint, 1)
        if count > bounds.max_rows or count * BYTES_PER_ROW > bounds.max_bytes:
            return None
        held = CachedRelation(query.fingerprint, count, count * BYTES_PER_ROW)
        self._held[query.fingerprint] = held
        while sum(each.byte_count for each in self._held.values()) > self.max_bytes:
            del self._held[next(iter(self._held))]
        return held

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        self.puts.append(query)
        self.row_counts[query.fingerprint] = rows.num_rows
        return self._keep(query, bounds)

    def lose(self) -> None:
        """Empties the cache, as the loss of the engine does."""
        self._held.clear()
