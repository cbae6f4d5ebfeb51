"""Results in an object store, which all replicas and all executors reach."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pyarrow as pa
import structlog

from service.adapters.results.arrow_stream import ArrowStream
from service.adapters.results.manifest_file import NAME, manifest_text, milliseconds
from service.adapters.results.message_files import as_not_kept
from service.adapters.results.notes import KEY, RIGHTS
from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.claims import CLAIMS, claim, delete_result, delete_unneeded
from service.adapters.results.objects.object_leftovers import Leftovers
from service.adapters.results.objects.object_manifests import ObjectManifests
from service.adapters.results.objects.object_rows import ObjectBlocks, put_rows, read_batch, with_objects
from service.adapters.results.objects.store_failures import ObjectGone
from service.adapters.results.result_room import ResultRoom
from service.adapters.results.store_bounds import ResultBounds
from service.adapters.results.stored_result import StoredResult
from service.errors.query_errors import ChunkNotFound, ResultExpired, ResultStoreDown
from service.model.operations.usage import CacheUse
from service.model.query.results import Column, Manifest
from service.model.query.written_rows import ResultPlace, WrittenRows
from service.ports.clock import Clock

log = structlog.get_logger(__name__)

MAX_UNDELETED = 10_000
"""Results that could not be deleted are tried again; others of this kind wait for the sweep of leftovers."""


class ObjectResultStore:
    """Implements `ResultStore`, `WrittenResults` and `ResultFiles`: objects with the query's id in their key.

    All results of this process together take at most `total_bytes`; the oldest are evicted. Queries that
    share a result share its objects: see `claims`. If the store does not answer, methods that need it raise
    `ResultStoreDown`; `drop` never does.
    """

    def __init__(self, bucket: Bucket, clock: Clock, bounds: ResultBounds) -> None:
        self._bucket = bucket
        self._clock = clock
        self._bounds = bounds
        self._time_to_live_ms = bounds.time_to_live // timedelta(milliseconds=1)
        self._room = ResultRoom(bounds.total_bytes)
        self._manifests = ObjectManifests(bucket)
        self._placed: set[UUID] = set()
        self._undeleted: dict[UUID, UUID] = {}
        self._leftovers = Leftovers(
            bucket, self._manifests, bounds, lambda it: self._room.find(it) is not None
        )

    @property
    def use(self) -> CacheUse:
        """The space that results of this process take in the store now."""
        return self._room.use

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows, cut into chunks of at most `chunk_rows` rows and about `chunk_bytes` bytes.

        Raises:
            ResultTooLarge: it is larger than all results together may be.
            ResultStoreDown: the store does not answer.
            NoRoomForResult, QueryFailed: the disk, where many rows are held before, is full or fails.
        """
        with self._keeping(query_id, rows.nbytes):
            written = put_rows(self._bucket, query_id, rows, self._bounds)
        return self._kept(query_id, written, columns, is_truncated)

    def place(self, query_id: UUID) -> ResultPlace | None:
        """See `WrittenResults`."""
        self._placed.add(query_id)
        # Its objects are new from now on.
        self._undeleted.pop(query_id, None)
        return ResultPlace(
            address=self._bucket.access.address(str(query_id)),
            batch_rows=self._bounds.chunk_rows,
            batch_bytes=self._bounds.chunk_bytes,
            inline_bytes=self._bounds.inline_bytes,
            driver_bytes=self._bounds.driver_bytes,
            properties=self._bucket.access.for_executors(),
        )

    def keep(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """See `WrittenResults`.

        Raises:
            ResultStoreDown: the store does not answer.
        """
        with self._keeping(query_id, rows.byte_count):
            written = with_objects(self._bucket, query_id, rows)
            self._delete_others(query_id, written)
        return self._kept(query_id, written, columns, is_truncated)

    def manifest(self, query_id: UUID) -> Manifest | None:
        """See `ResultStore`."""
        try:
            return self._stored(query_id).manifest
        except ResultExpired:
            return None

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """See `ResultStore`."""
        stored = self._stored(query_id)
        found = stored.batch(index)
        if found is None:
            raise ChunkNotFound()
        return read_batch(self._bucket, stored.origin, *found, stored.rows.schema)

    def open(self, query_id: UUID) -> ArrowStream:
        """See `ResultFiles`."""
        stored = self._stored(query_id)
        is_own = self._room.find(query_id) is not None
        blocks = ObjectBlocks(self._bucket, stored.origin, lambda: self._is_live(stored, is_own))
        return ArrowStream(stored.rows, blocks.read)

    def keep_for(self, query_id: UUID, key: str) -> bool:
        """See `ResultStore`."""
        return self._note(query_id, KEY, key)

    def note_rights(self, query_id: UUID, rights: str) -> bool:
        """See `ResultStore`."""
        return self._note(query_id, RIGHTS, rights)

    def rights(self, query_id: UUID) -> str | None:
        """See `ResultStore`."""
        return self._noted(query_id, RIGHTS)

    def share(self, query_id: UUID, other: UUID, key: str | None = None) -> bool:
        """See `ResultStore`. A store that does not answer shares nothing."""
        try:
            stored = self._stored(query_id)
            if key is not None and self._noted(query_id, KEY) != key:
                return False
            if self._room.find(other) is not None:
                self.drop(other)
            return self._claimed(query_id, stored, other)
        except (ResultExpired, ResultStoreDown):
            return False

    def drop(self, query_id: UUID) -> None:
        """Removes a result of this process, and rows that the engine has left for one."""
        stored = self._room.find(query_id)
        self._room.remove(query_id)
        if stored is None and query_id not in self._placed:
            return
        self._delete(query_id, query_id if stored is None else stored.origin)

    def sweep(self) -> None:
        """Removes the results whose time to live has ended, and what others have left.

        Raises:
            ResultStoreDown: the store does not answer.
        """
        for query_id in self._room.expired(self._clock.elapsed_ms()):
            self.drop(query_id)
        for query_id in list(self._undeleted):
            origin = self._undeleted.pop(query_id, None)
            if origin is not None:
                self._delete(query_id, origin)
        self._leftovers.delete(self._clock.now())

    def check(self) -> ResultStoreDown | None:
        """Asks the store now; returns why it cannot be used."""
        return self._bucket.check()

    def close(self) -> None:
        """Forgets all results. Other replicas can read them until they expire."""
        self._room.clear()

    @contextmanager
    def _keeping(self, query_id: UUID, byte_count: int) -> Iterator[None]:
        """Makes room for a result while the block writes it; after a failure, nothing of it is left."""
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
            self._placed.add(query_id)
            self.drop(query_id)
            raise

    def _kept(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        stored = StoredResult(query_id, columns, rows, is_truncated, self._expires_at_ms)
        with self._or_nothing(query_id):
            self._write_manifest(query_id, stored)
        self._add(query_id, stored)
        return stored.manifest

    def _delete_others(self, query_id: UUID, rows: WrittenRows) -> None:
        """Deletes what has none of these rows: what an earlier run, or a task that ran twice, has left."""
        names = {str(part.file) for part in rows.parts}
        listed = [found.steps for found in self._bucket.list(str(query_id)) if found.steps[1] not in names]
        self._bucket.delete(listed)

    def _claimed(self, query_id: UUID, stored: StoredResult, other: UUID) -> bool:
        """Makes the rows those of another query, too, unless their result goes at this moment."""
        claim(self._bucket, stored.origin, other)
        found = self._manifests.read(query_id)
        if found is None or not self._is_live(found, is_own=False):
            self._bucket.delete([(str(stored.origin), CLAIMS, str(other))])
            delete_unneeded(self._bucket, stored.origin)
            return False
        shared = replace(stored, expires_at_ms=self._expires_at_ms)
        try:
            self._write_manifest(other, shared)
        except ResultStoreDown:
            # Not tried again: the query runs now, and the next time its own result may be there.
            with suppress(ResultStoreDown):
                delete_result(self._bucket, other, stored.origin)
            raise
        self._add(other, shared)
        return True

    def _write_manifest(self, query_id: UUID, stored: StoredResult) -> None:
        expires_at = self._clock.now() + self._bounds.time_to_live
        self._bucket.put(manifest_text(stored, expires_at).encode(), str(query_id), NAME)

    def _add(self, query_id: UUID, stored: StoredResult) -> None:
        self._room.remove(query_id)
        self._placed.discard(query_id)
        # Earlier objects of the query are replaced. The sweep of leftovers ends its claim.
        self._undeleted.pop(query_id, None)
        self._evict(self._room.add(query_id, stored))

    def _stored(self, query_id: UUID) -> StoredResult:
        own = self._room.find(query_id)
        stored = self._manifests.read(query_id) if own is None else own
        if stored is None or not self._is_live(stored, is_own=own is not None):
            raise ResultExpired
        return stored

    def _note(self, query_id: UUID, name: str, text: str) -> bool:
        if self._room.find(query_id) is None:
            return False
        try:
            self._bucket.put(text.encode(), str(query_id), name)
        except ResultStoreDown:
            return False
        return True

    def _noted(self, query_id: UUID, name: str) -> str | None:
        with suppress(ObjectGone):
            found = self._bucket.get(str(query_id), name)
            return None if found is None else found.data.decode(errors="replace")
        return None

    def _delete(self, query_id: UUID, origin: UUID) -> None:
        try:
            delete_result(self._bucket, query_id, origin)
        except ResultStoreDown as failure:
            log.info("result_not_deleted", query_id=str(query_id), detail=failure.detail)
            if len(self._undeleted) < MAX_UNDELETED:
                self._undeleted[query_id] = origin
        self._placed.discard(query_id)

    def _evict(self, queries: list[UUID]) -> None:
        for query_id in queries:
            self.drop(query_id)

    @property
    def _expires_at_ms(self) -> int:
        return self._clock.elapsed_ms() + self._time_to_live_ms

    def _is_live(self, stored: StoredResult, is_own: bool) -> bool:
        # Monotonic clocks of two processes have nothing in common.
        now_ms = self._clock.elapsed_ms() if is_own else milliseconds(self._clock.now())
        return now_ms < stored.expires_at_ms
