"""Chunks that clients have read in part: kept in memory, so that small fetches do not read them again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class _Kept:
    index: int
    rows: pa.Table
    byte_count: int


class KeptChunks:
    """At most one chunk of each result, all together within a bound. Any thread may call any method.

    If the bound does not suffice, the chunk that was not read for the longest goes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[ChunkPlace, _Kept] = OrderedDict()
        self._byte_count = 0
        self._lock = Lock()

    @property
    def byte_count(self) -> int:
        """The bytes of all chunks that are kept now."""
        return self._byte_count

    def place(self) -> ChunkPlace:
        """Returns a place for the chunk of one result."""
        return ChunkPlace(self)

    def find(self, place: ChunkPlace, index: int) -> pa.Table | None:
        """See `ChunkPlace.find`."""
        with self._lock:
            kept = self._kept.get(place)
            if kept is None or kept.index != index:
                return None
            self._kept.move_to_end(place)
            return kept.rows

    def keep(self, place: ChunkPlace, index: int, rows: pa.Table) -> None:
        """See `ChunkPlace.keep`."""
        byte_count = int(rows.get_total_buffer_size())
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and kept.rows is rows:
                return
            self._forget(place)
            if place.is_closed or byte_count > self._max_bytes:
                return
            while self._byte_count + byte_count > self._max_bytes:
                self._forget(next(iter(self._kept)))
            self._kept[place] = _Kept(index, rows, byte_count)
            self._byte_count += byte_count

    def leave(self, place: ChunkPlace, *, is_closed: bool = False) -> None:
        """See `ChunkPlace.leave` and `ChunkPlace.close`."""
        with self._lock:
            place.is_closed |= is_closed
            self._forget(place)

    def _forget(self, place: ChunkPlace) -> None:
        kept = self._kept.pop(place, None)
        self._byte_count -= 0 if kept is None else kept.byte_count


class ChunkPlace:
    """The place of one result among all kept chunks."""

    def __init__(self, chunks: KeptChunks) -> None:
        self._chunks = chunks
        self.is_closed = False

    def find(self, index: int) -> pa.Table | None:
        """Returns the rows of this chunk if it is the one that is kept."""
        return self._chunks.find(self, index)

    def keep(self, index: int, rows: pa.Table) -> None:
        """Keeps this chunk, in place of the one before, if there is room."""
        self._chunks.keep(self, index, rows)

    def leave(self) -> None:
        """Gives the room back."""
        self._chunks.leave(self)

    def close(self) -> None:
        """Gives the room back for good: nothing is kept here any more, also if it is being read now."""
        self._chunks.leave(self, is_closed=True)
