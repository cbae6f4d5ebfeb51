"""The distinct values of a column that arrives in pieces."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

# What a key takes in memory at least, once it is a value of Python.
KEY_BYTES = 16
_ROWS_BEFORE_MERGING = 65_536


class DistinctKeys:
    """Collects values, each once, without NULL."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._merged: pa.Array | None = None
        self._pieces: list[pa.Array] = []

    def add(self, values: pa.Array) -> bool:
        """Takes some more; False when there are too many by now."""
        self._pieces.append(pc.unique(values.drop_null()))
        merged_count = 0 if self._merged is None else len(self._merged)
        # As many again before they are merged: so each is looked at a few times only.
        if sum(map(len, self._pieces)) < max(_ROWS_BEFORE_MERGING, merged_count):
            return True
        return _byte_count(self._merge()) <= self._max_bytes

    def sorted_values(self) -> list[object] | None:
        """All of them in order; None when there are too many."""
        merged = self._merge()
        if _byte_count(merged) > self._max_bytes:
            return None
        values: list[object] = [] if merged is None else merged.sort().to_pylist()
        return values

    def _merge(self) -> pa.Array | None:
        pieces: Iterable[pa.Array] = self._pieces if self._merged is None else [self._merged, *self._pieces]
        chunks = list(pieces)
        self._pieces = []
        if chunks:
            self._merged = pc.unique(pa.chunked_array(chunks))
        return self._merged


def _byte_count(values: pa.Array | None) -> int:
    return 0 if values is None else max(values.nbytes, KEY_BYTES * len(values))
