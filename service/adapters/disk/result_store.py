"""Results on the local disk, as Arrow files that are read through the page cache."""

from __future__ import annotations

import errno
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from threading import Lock
from uuid import UUID, uuid4

import pyarrow as pa
import structlog

from service.adapters.disk.scratch_directory import ScratchDirectory
from service.errors import (
    CannotStart,
    ChunkNotFound,
    NoRoomForResult,
    QueryFailed,
    ResultExpired,
    ResultTooLarge,
)
from service.model.operations.usage import CacheUse
from service.model.query.results import Chunk, Column, Manifest
from service.ports import Clock

log = structlog.get_logger(__name__)

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class _StoredResult:
    path: Path
    byte_count: int
    expires_at_ms: int


class LocalResultStore:
    """The `ResultStore` port: one Arrow IPC file for each result, one record batch for each chunk.

    All results together take at most `total_bytes`; the oldest are evicted. Queries that share a result share
    its file. The files end with this process; those of earlier processes are removed at start.

    Raises:
        CannotStart: the directory cannot be used.
    """

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        time_to_live: timedelta = timedelta(hours=1),
        total_bytes: int = 4 << 30,
        chunk_rows: int = 10_000,
        chunk_bytes: int = 8 << 20,
    ) -> None:
        try:
            self._scratch = ScratchDirectory.claim(directory)
        except OSError as error:
            raise CannotStart(
                f"Results cannot be kept in {directory} ({error.strerror}); "
                "choose a directory that this user may write, with some space left."
            ) from error
        self._clock = clock
        self._time_to_live_ms = time_to_live // timedelta(milliseconds=1)
        self._total_bytes = total_bytes
        self._chunk_rows = chunk_rows
        self._chunk_bytes = chunk_bytes
        # In the order in which they expire, since all live equally long.
        self._stored: dict[UUID, _StoredResult] = {}
        self._shares: Counter[Path] = Counter()
        self._stored_bytes = 0
        self._reserved_bytes = 0
        self._lock = Lock()

    @property
    def use(self) -> CacheUse:
        """The disk space that results take now."""
        with self._lock:
            return CacheUse(len(self._stored), self._stored_bytes, self._total_bytes)

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows, cut into chunks of at most `chunk_rows` rows and about `chunk_bytes` bytes.

        Raises:
            ResultTooLarge: it is larger than all results together may be.
            NoRoomForResult: the disk is full.
            QueryFailed: the disk cannot be written.
        """
        self.sweep()
        cuts = self._cuts(rows)
        self._reserve(rows.nbytes)
        try:
            stored = self._write(rows, cuts)
        finally:
            self._unreserve(rows.nbytes)
        self._add(query_id, stored)
        chunks = tuple(Chunk(index, start, end - start) for index, (start, end) in enumerate(cuts))
        return Manifest(columns, rows.num_rows, rows.nbytes, chunks, is_truncated)

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """Returns the rows of one chunk; the same on every read.

        Raises:
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk.
        """
        with self._lock:
            stored = self._stored.get(query_id)
        if stored is None or stored.expires_at_ms <= self._clock.elapsed_ms():
            raise ResultExpired()
        try:
            reader = pa.ipc.open_file(pa.memory_map(str(stored.path)))
        except FileNotFoundError as error:
            # Dropped since the check.
            raise ResultExpired() from error
        if not 0 <= index < reader.num_record_batches:
            raise ChunkNotFound()
        return pa.Table.from_batches([reader.get_batch(index)])

    def share(self, query_id: UUID, other: UUID) -> bool:
        """Makes a result that of another query too, and returns whether it is still there.

        Each has its own time to live and ends on its own. The rows take their room once.
        """
        now = self._clock.elapsed_ms()
        with self._lock:
            stored = self._stored.get(query_id)
            if stored is None or stored.expires_at_ms <= now or not stored.path.exists():
                return False
            self._note(other, replace(stored, expires_at_ms=now + self._time_to_live_ms))
            return True

    def drop(self, query_id: UUID) -> None:
        """Removes a result, if it is there. A reader keeps what it has already read."""
        with self._lock:
            stored = self._stored.pop(query_id, None)
            if stored is None:
                return
            self._shares[stored.path] -= 1
            if self._shares[stored.path]:
                return
            del self._shares[stored.path]
            self._stored_bytes -= stored.byte_count
        stored.path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Removes the results whose time to live has ended."""
        now = self._clock.elapsed_ms()
        with self._lock:
            expired = list(takewhile(lambda stored: stored[1].expires_at_ms <= now, self._stored.items()))
        for query_id, _ in expired:
            self.drop(query_id)

    def close(self) -> None:
        """Removes all results."""
        with self._lock:
            self._stored.clear()
            self._shares.clear()
            self._stored_bytes = 0
        self._scratch.remove()

    def _cuts(self, rows: pa.Table) -> list[tuple[int, int]]:
        count = rows.num_rows
        by_bytes = count * self._chunk_bytes // max(rows.nbytes, 1)
        step = max(1, min(self._chunk_rows, by_bytes))
        return list(pairwise([*range(0, count, step), count])) or [(0, 0)]

    def _reserve(self, byte_count: int) -> None:
        if byte_count > self._total_bytes:
            raise ResultTooLarge()
        with self._lock:
            self._reserved_bytes += byte_count
        self._make_room()

    def _unreserve(self, byte_count: int) -> None:
        with self._lock:
            self._reserved_bytes -= byte_count

    def _add(self, query_id: UUID, stored: _StoredResult) -> None:
        self.drop(query_id)
        with self._lock:
            self._note(query_id, stored)
        self._make_room()

    def _note(self, query_id: UUID, stored: _StoredResult) -> None:
        self._stored_bytes += 0 if stored.path in self._shares else stored.byte_count
        self._shares[stored.path] += 1
        self._stored[query_id] = stored

    def _make_room(self) -> None:
        with self._lock:
            taken = self._reserved_bytes + self._stored_bytes
            left: dict[Path, int] = {}
            oldest = []
            for query_id, stored in self._stored.items():
                if taken <= self._total_bytes:
                    break
                left[stored.path] = left.get(stored.path, self._shares[stored.path]) - 1
                taken -= 0 if left[stored.path] else stored.byte_count
                oldest.append(query_id)
        for query_id in oldest:
            self.drop(query_id)

    def _write(self, rows: pa.Table, cuts: list[tuple[int, int]]) -> _StoredResult:
        path = self._scratch.path / f"{uuid4()}.arrow"
        # One dictionary for the whole file: the file format does not allow a new one in each batch.
        unified = rows.unify_dictionaries()
        try:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, unified.schema) as writer:
                for start, end in cuts:
                    writer.write_batch(_batch(unified.slice(start, end - start)))
        except OSError as error:
            path.unlink(missing_ok=True)
            if error.errno in NO_ROOM:
                log.warning("no_room_for_result", bytes=rows.nbytes)
                raise NoRoomForResult from error
            raise QueryFailed("The result could not be kept: its directory cannot be written.") from error
        return _StoredResult(path, path.stat().st_size, self._clock.elapsed_ms() + self._time_to_live_ms)


def _batch(rows: pa.Table) -> pa.RecordBatch:
    if rows.num_rows == 0:
        empty = [pa.array([], column.type) for column in rows.columns]
        return pa.RecordBatch.from_arrays(empty, schema=rows.schema)
    return rows.combine_chunks().to_batches()[0]
