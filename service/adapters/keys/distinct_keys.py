"""Collects the distinct rows of columns that arrive in pieces."""

from __future__ import annotations

import pyarrow as pa

from service.model.filters.key_set import Key

# The least memory that a key takes as a Python value.
KEY_BYTES = 16
_ROWS_BEFORE_MERGING = 65_536


class DistinctKeys:
    """Collects distinct keys of one or more columns. Keys with a NULL are only noted in `has_null`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._merged: pa.Table | None = None
        self._pieces: list[pa.Table] = []
        self.has_null = False

    def add(self, keys: pa.Table) -> bool:
        """Adds a piece, always of the same columns. Returns False if there are too many keys by now."""
        whole = keys.drop_null()
        self.has_null |= whole.num_rows < keys.num_rows
        self._pieces.append(_distinct(whole))
        merged_count = 0 if self._merged is None else self._merged.num_rows
        # Merges once the pieces are as large as the merged keys, so each key is merged only a few times.
        if sum(piece.num_rows for piece in self._pieces) < max(_ROWS_BEFORE_MERGING, merged_count):
            return True
        return _byte_count(self._merge()) <= self._max_bytes

    def sorted_keys(self) -> tuple[Key, ...] | None:
        """Returns all keys in order; None if there are too many."""
        merged = self._merge()
        if _byte_count(merged) > self._max_bytes:
            return None
        if merged is None:
            return ()
        ordered = merged.sort_by([(name, "ascending") for name in merged.column_names])
        return tuple(zip(*(column.to_pylist() for column in ordered.columns), strict=True))

    def _merge(self) -> pa.Table | None:
        pieces = self._pieces if self._merged is None else [self._merged, *self._pieces]
        self._pieces = []
        if pieces:
            self._merged = _distinct(pa.concat_tables(pieces))
        return self._merged


def _distinct(keys: pa.Table) -> pa.Table:
    return keys.group_by(keys.column_names, use_threads=False).aggregate([])


def _byte_count(keys: pa.Table | None) -> int:
    return 0 if keys is None else max(keys.nbytes, KEY_BYTES * keys.num_rows)
