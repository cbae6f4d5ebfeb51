"""Relations that are held once they were fetched; rows are as many as the test says."""

from __future__ import annotations

from service.model.query import Parameters
from service.model.relations import HeldRelation, RelationBounds, RelationQuery

BYTES_PER_ROW = 100


class FakeRelations:
    """`row_counts` by fingerprint; a relation that is not among them has one row."""

    def __init__(self) -> None:
        self.row_counts: dict[str, int] = {}
        self.fetches: list[tuple[RelationQuery, Parameters]] = []
        self._held: dict[str, HeldRelation] = {}

    def held(self, fingerprint: str) -> HeldRelation | None:
        return self._held.get(fingerprint)

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds
    ) -> HeldRelation | None:
        self.fetches.append((query, parameters))
        count = self.row_counts.get(query.fingerprint, 1)
        if count > bounds.max_rows or count * BYTES_PER_ROW > bounds.max_bytes:
            return None
        self._held[query.fingerprint] = HeldRelation(query.fingerprint, count, count * BYTES_PER_ROW)
        return self._held[query.fingerprint]

    def lose(self) -> None:
        """As when the engine was lost."""
        self._held.clear()
