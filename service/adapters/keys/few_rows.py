"""Collects rows that arrive in pieces, as long as they are few."""

from __future__ import annotations

import pyarrow as pa

from service.model.filters.relations import RelationBounds


class FewRows:
    """Collects pieces, and drops them all once they exceed the bounds."""

    def __init__(self, schema: pa.Schema, bounds: RelationBounds) -> None:
        self._schema = schema
        self._bounds = bounds
        self._pieces: list[pa.Table] = []
        self._row_count = 0
        self._byte_count = 0
        self._are_few = True

    def add(self, piece: pa.Table) -> None:
        """Adds a piece with the schema's columns."""
        self._row_count += piece.num_rows
        self._byte_count += piece.nbytes
        if self._row_count > self._bounds.max_rows or self._byte_count > self._bounds.max_bytes:
            self._are_few = False
            self._pieces.clear()
        if self._are_few:
            self._pieces.append(piece)

    def rows(self) -> pa.Table | None:
        """Returns all rows; None if they exceed the bounds."""
        if not self._are_few:
            return None
        return pa.concat_tables(self._pieces) if self._pieces else self._schema.empty_table()
