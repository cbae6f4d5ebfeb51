"""Results in an object store. The gateway keeps those that came through its own memory here, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from service.adapters.results.arrow_stream import ArrowStream
from service.adapters.results.objects.object_results import ObjectResultStore
from service.adapters.results.result_store import FolderResultStore
from service.errors.query_errors import ResultExpired, ResultStoreDown
from service.model.operations.health import PartHealth, PartState
from service.model.operations.usage import CacheUse
from service.model.query.results import Column, Manifest
from service.model.query.written_rows import ResultPlace, WrittenRows
from service.periodic_worker import PeriodicWorker

if TYPE_CHECKING:
    import pyarrow as pa

log = structlog.get_logger(__name__)

NAME = "resultStore"
SWEPT_EVERY_S = 60.0


class LocalFirstResults:
    """Implements `ResultStore`, `WrittenResults` and `ResultFiles` by a folder of this process and a store.

    Rows that came to the gateway are in its folder, and copied to the store for the other replicas. So they
    are served even while the store does not answer. Rows that the engine has written are in the store alone.
    """

    def __init__(self, local: FolderResultStore, stored: ObjectResultStore) -> None:
        self._local = local
        self._stored = stored
        self._sweeper = PeriodicWorker("sweep-results", self._sweep, SWEPT_EVERY_S)

    def start(self) -> None:
        """Begins to sweep the store now and then."""
        self._sweeper.start()

    @property
    def use(self) -> CacheUse:
        """The space that results of this process take in the store now."""
        return self._stored.use

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """See `ResultStore`. If the store does not answer, only this replica serves the rows."""
        manifest = self._local.put(query_id, rows, columns, is_truncated)
        try:
            return self._stored.put(query_id, rows, columns, is_truncated)
        except ResultStoreDown as failure:
            log.info("result_served_here_only", query_id=str(query_id), reason=failure.detail)
            return manifest
        except BaseException:
            self._local.drop(query_id)
            raise

    def place(self, query_id: UUID) -> ResultPlace | None:
        """See `WrittenResults`."""
        return self._stored.place(query_id)

    def keep(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """See `WrittenResults`."""
        self._local.drop(query_id)
        return self._stored.keep(query_id, rows, columns, is_truncated)

    def manifest(self, query_id: UUID) -> Manifest | None:
        """See `ResultStore`."""
        return self._local.manifest(query_id) or self._stored.manifest(query_id)

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """See `ResultStore`."""
        try:
            return self._local.chunk(query_id, index)
        except ResultExpired:
            return self._stored.chunk(query_id, index)

    def open(self, query_id: UUID) -> ArrowStream:
        """See `ResultFiles`."""
        try:
            return self._local.open(query_id)
        except ResultExpired:
            return self._stored.open(query_id)

    def keep_for(self, query_id: UUID, key: str) -> bool:
        """See `ResultStore`."""
        return self._stored.keep_for(query_id, key)

    def note_rights(self, query_id: UUID, rights: str) -> bool:
        """See `ResultStore`."""
        return self._stored.note_rights(query_id, rights)

    def rights(self, query_id: UUID) -> str | None:
        """See `ResultStore`."""
        return self._stored.rights(query_id)

    def share(self, query_id: UUID, other: UUID, key: str | None = None) -> bool:
        """See `ResultStore`. The store proves the key, so without it nothing is shared."""
        self._local.drop(other)
        if not self._stored.share(query_id, other, key):
            return False
        self._local.share(query_id, other)
        return True

    def drop(self, query_id: UUID) -> None:
        """See `ResultStore`."""
        self._local.drop(query_id)
        self._stored.drop(query_id)

    def health(self) -> Sequence[PartHealth]:
        """Returns whether the store answers now."""
        failure = self._stored.check()
        if failure is None:
            return [PartHealth(NAME, PartState.UP)]
        return [PartHealth(NAME, PartState.DOWN, failure.detail)]

    def close(self) -> None:
        """Removes what is here alone; the store keeps the results for the other replicas."""
        self._sweeper.close()
        self._local.close()
        self._stored.close()

    def _sweep(self) -> None:
        self._local.sweep()
        self._stored.sweep()
