"""Results in a folder of this process, or in one that replicas share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pyarrow as pa

from service.adapters.disk.scratch_directory import ScratchDirectory
from service.adapters.results.arrow_stream import ArrowStream, FileBlocks
from service.adapters.results.known_manifests import KnownManifests
from service.adapters.results.leftovers import delete_leftovers
from service.adapters.results.manifest_file import NAME, milliseconds, write_manifest
from service.adapters.results.message_files import (
    as_not_kept,
    cuts,
    delete_others,
    read_batch,
    with_files,
    write_rows,
)
from service.adapters.results.notes import KEY, RIGHTS, read_note, write_note
from service.adapters.results.result_room import ResultRoom
from service.adapters.results.store_bounds import ResultBounds
from service.adapters.results.stored_result import StoredResult
from service.errors.gateway_error import CannotStart
from service.errors.query_errors import ChunkNotFound, ResultExpired
from service.model.operations.health import PartHealth
from service.model.operations.usage import CacheUse
from service.model.query.results import Column, Manifest
from service.model.query.written_rows import ResultPlace, WrittenRows
from service.ports.clock import Clock

LEFTOVERS_EVERY = timedelta(minutes=1)


class FolderResultStore:
    """Implements `ResultStore`, `WrittenResults` and `ResultFiles`: a folder for each result.

    All results of this process together take at most `total_bytes`; the oldest are evicted. Queries that
    share a result share its files, by hard links. In a shared folder each result has a manifest, by which
    any replica reads it; otherwise the files end with this process.

    Raises:
        CannotStart: the directory cannot be used.
    """

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        bounds: ResultBounds,
        *,
        is_shared: bool = False,
        is_reached_by_engine: bool = True,
    ) -> None:
        """`is_shared`: other replicas use the directory, too."""
        try:
            self._scratch = None if is_shared else ScratchDirectory.claim(directory)
            directory.mkdir(0o770, parents=True, exist_ok=True)
        except OSError as error:
            raise CannotStart(
                f"Results cannot be kept in {directory} ({error.strerror}); "
                "choose a directory that this user may write, with some space left."
            ) from error
        self._root = directory if self._scratch is None else self._scratch.path
        self._clock = clock
        self._bounds = bounds
        self._time_to_live_ms = bounds.time_to_live // timedelta(milliseconds=1)
        self._is_reached_by_engine = is_reached_by_engine
        self._room = ResultRoom(bounds.total_bytes)
        self._others = KnownManifests()
        self._swept_ms = clock.elapsed_ms()
        self._delete_leftovers()

    @property
    def use(self) -> CacheUse:
        """The disk space that results of this process take now."""
        return self._room.use

    def health(self) -> Sequence[PartHealth]:
        """Returns no part: who watches the disk watches this folder, too."""
        return ()

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows, cut into chunks of at most `chunk_rows` rows and about `chunk_bytes` bytes.

        Raises:
            ResultTooLarge: it is larger than all results together may be.
            NoRoomForResult: the disk is full.
            QueryFailed: the disk cannot be written.
        """
        at = cuts(rows, self._bounds.chunk_rows, self._bounds.chunk_bytes)
        folder = self._folder(query_id)
        with self._keeping(query_id, rows.nbytes):
            folder.mkdir(exist_ok=True)
            written = write_rows(folder, rows, at)
            delete_others(folder, written)
        return self._kept(query_id, written, columns, is_truncated)

    def place(self, query_id: UUID) -> ResultPlace | None:
        """See `WrittenResults`."""
        if not self._is_reached_by_engine:
            return None
        return ResultPlace(
            address=self._folder(query_id).absolute().as_uri(),
            batch_rows=self._bounds.chunk_rows,
            batch_bytes=self._bounds.chunk_bytes,
            inline_bytes=self._bounds.inline_bytes,
            driver_bytes=self._bounds.driver_bytes,
        )

    def keep(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """See `WrittenResults`."""
        with self._keeping(query_id, rows.byte_count):
            written = with_files(self._folder(query_id), rows)
        return self._kept(query_id, written, columns, is_truncated)

    def manifest(self, query_id: UUID) -> Manifest | None:
        """See `ResultStore`."""
        try:
            return self._stored(query_id).manifest
        except ResultExpired:
            return None

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """Returns the rows of one chunk; the same on every read.

        Raises:
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk.
        """
        stored = self._stored(query_id)
        found = stored.batch(index)
        if found is None:
            raise ChunkNotFound()
        name, batch = found
        path = self._folder(query_id) / name
        return pa.Table.from_batches([read_batch(path, batch, stored.rows.schema)])

    def open(self, query_id: UUID) -> ArrowStream:
        """See `ResultFiles`."""
        stored = self._stored(query_id)
        is_own = self._room.find(query_id) is not None
        files = FileBlocks(self._folder(query_id), lambda: self._is_live(stored, is_own))
        return ArrowStream(stored.rows, files.read)

    def keep_for(self, query_id: UUID, key: str) -> bool:
        """See `ResultStore`. In a folder of this process nothing is noted: nobody else shares its results."""
        return self._scratch is not None or write_note(self._folder(query_id), KEY, key)

    def note_rights(self, query_id: UUID, rights: str) -> bool:
        """See `ResultStore`. In a folder of this process nothing is noted: nobody else serves its results."""
        return self._scratch is not None or write_note(self._folder(query_id), RIGHTS, rights)

    def rights(self, query_id: UUID) -> str | None:
        """See `ResultStore`."""
        return None if self._scratch is not None else read_note(self._folder(query_id), RIGHTS)

    def share(self, query_id: UUID, other: UUID, key: str | None = None) -> bool:
        """See `ResultStore`."""
        folder = self._folder(other)
        try:
            stored = self._stored(query_id)
            if key is not None and self._scratch is None:
                _check_key(self._folder(query_id), key)
            self.drop(other)
            folder.mkdir()
            for part in stored.rows.parts:
                os.link(self._folder(query_id) / str(part.file), folder / str(part.file))
            self._add(other, replace(stored, expires_at_ms=self._clock.elapsed_ms() + self._time_to_live_ms))
        except (ResultExpired, OSError):
            shutil.rmtree(folder, ignore_errors=True)
            return False
        return True

    def drop(self, query_id: UUID) -> None:
        """Removes a result, and rows that the engine has left for one. A reader keeps what it has read."""
        self._room.remove(query_id)
        folder = self._folder(query_id)
        with suppress(OSError):
            # First, so that no replica begins to read what is about to go.
            (folder / NAME).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> None:
        """Removes the results whose time to live has ended, and now and then what others have left."""
        now_ms = self._clock.elapsed_ms()
        self._evict(self._room.expired(now_ms))
        if now_ms - self._swept_ms >= LEFTOVERS_EVERY // timedelta(milliseconds=1):
            self._swept_ms = now_ms
            self._delete_leftovers()

    def close(self) -> None:
        """Removes all results, except those that other replicas can read."""
        self._room.clear()
        if self._scratch is not None:
            self._scratch.remove()

    @contextmanager
    def _keeping(self, query_id: UUID, byte_count: int) -> Iterator[None]:
        """Makes room for a result while the block writes it; after a failure, nothing of it is left."""
        self.sweep()
        with self._or_nothing(query_id):
            self._evict(self._room.reserve(byte_count))
            try:
                with as_not_kept(byte_count):
                    yield
            finally:
                self._room.free(byte_count)

    @contextmanager
    def _or_nothing(self, query_id: UUID) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.drop(query_id)
            raise

    def _kept(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        expires_at_ms = self._clock.elapsed_ms() + self._time_to_live_ms
        stored = StoredResult(query_id, columns, rows, is_truncated, expires_at_ms)
        with self._or_nothing(query_id), as_not_kept(stored.file_bytes):
            self._add(query_id, stored)
        return stored.manifest

    def _add(self, query_id: UUID, stored: StoredResult) -> None:
        if self._scratch is None:
            write_manifest(self._folder(query_id), stored, self._clock.now() + self._bounds.time_to_live)
        self._room.remove(query_id)
        self._evict(self._room.add(query_id, stored))

    def _stored(self, query_id: UUID) -> StoredResult:
        stored = self._room.find(query_id)
        if stored is not None:
            if not self._is_live(stored, is_own=True):
                raise ResultExpired
            return stored
        found = None if self._scratch is not None else self._others.read(self._folder(query_id))
        if found is None or not self._is_live(found, is_own=False):
            raise ResultExpired
        return found

    def _is_live(self, stored: StoredResult, is_own: bool) -> bool:
        # Monotonic clocks of two processes have nothing in common.
        now_ms = self._clock.elapsed_ms() if is_own else milliseconds(self._clock.now())
        return now_ms < stored.expires_at_ms

    def _evict(self, queries: list[UUID]) -> None:
        for query_id in queries:
            self.drop(query_id)

    def _delete_leftovers(self) -> None:
        delete_leftovers(
            self._root,
            self._clock.now(),
            self._bounds.unfinished_after,
            lambda query_id: self._room.find(query_id) is not None,
        )

    def _folder(self, query_id: UUID) -> Path:
        return self._root / str(query_id)


def _check_key(folder: Path, key: str) -> None:
    """Checks that the rows in this folder were kept for this key.

    Raises:
        ResultExpired: they were kept for another one, or for none.
    """
    if read_note(folder, KEY) != key:
        raise ResultExpired
