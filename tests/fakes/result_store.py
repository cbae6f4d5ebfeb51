"""In-memory results, which expire by the clock. For several threads, as the real store."""

from __future__ import annotations

import threading
from datetime import timedelta
from uuid import UUID

import pyarrow as pa

from service.errors.query_errors import ChunkNotFound, ResultExpired, ResultTooLarge
from service.model.query.results import Chunk, Column, Manifest
from service.ports.clock import Clock
from tests.fakes.arrow_file import FakeArrowFile
from tests.fakes.clock import FakeClock


class FakeResultStore:
    def __init__(
        self,
        clock: Clock | None = None,
        time_to_live: timedelta = timedelta(hours=1),
        chunk_rows: int = 10_000,
        total_bytes: int = 1 << 30,
    ) -> None:
        self._clock: Clock = clock or FakeClock()
        self._time_to_live_ms = time_to_live // timedelta(milliseconds=1)
        self._chunk_rows = chunk_rows
        self._total_bytes = total_bytes
        self._lock = threading.RLock()
        self._results: dict[UUID, tuple[int, pa.Table]] = {}
        self._manifests: dict[int, Manifest] = {}
        self._keys: dict[UUID, str] = {}
        self._rights: dict[UUID, str] = {}

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        if rows.nbytes > self._total_bytes:
            raise ResultTooLarge()
        with self._lock:
            self.sweep()
            self._results[query_id] = (self._clock.elapsed_ms() + self._time_to_live_ms, rows)
            while self._taken_bytes() > self._total_bytes:
                del self._results[next(iter(self._results))]
        offsets = range(0, max(rows.num_rows, 1), self._chunk_rows)
        chunks = [
            Chunk(index, offset, min(self._chunk_rows, rows.num_rows - offset))
            for index, offset in enumerate(offsets)
        ]
        manifest = Manifest(columns, rows.num_rows, rows.nbytes, tuple(chunks), is_truncated)
        self._manifests[id(rows)] = manifest
        return manifest

    def manifest(self, query_id: UUID) -> Manifest | None:
        self.sweep()
        return self._manifests[id(self._results[query_id][1])] if query_id in self._results else None

    def open(self, query_id: UUID) -> FakeArrowFile:
        self.sweep()
        if query_id not in self._results:
            raise ResultExpired()
        return FakeArrowFile(self._results[query_id][1], lambda: self.manifest(query_id) is not None)

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        with self._lock:
            self.sweep()
            if query_id not in self._results:
                raise ResultExpired()
            rows = self._results[query_id][1]
        offset = index * self._chunk_rows
        if index < 0 or offset >= max(rows.num_rows, 1):
            raise ChunkNotFound()
        return rows.slice(offset, self._chunk_rows)

    def keep_for(self, query_id: UUID, key: str) -> bool:
        self._keys[query_id] = key
        return True

    def note_rights(self, query_id: UUID, rights: str) -> bool:
        self._rights[query_id] = rights
        return True

    def rights(self, query_id: UUID) -> str | None:
        return self._rights.get(query_id)

    def share(self, query_id: UUID, other: UUID, key: str | None = None) -> bool:
        with self._lock:
            self.sweep()
            if key is not None and self._keys.get(query_id) != key:
                return False
            if query_id in self._results:
                rows = self._results[query_id][1]
                self._results[other] = (self._clock.elapsed_ms() + self._time_to_live_ms, rows)
            return query_id in self._results

    def drop(self, query_id: UUID) -> None:
        with self._lock:
            self._results.pop(query_id, None)
            self._rights.pop(query_id, None)

    def sweep(self) -> None:
        now = self._clock.elapsed_ms()
        with self._lock:
            self._results = {key: stored for key, stored in self._results.items() if now < stored[0]}

    def _taken_bytes(self) -> int:
        return sum({id(table): table.nbytes for _, table in self._results.values()}.values())
