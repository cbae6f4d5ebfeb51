"""Commits to Iceberg tables through PyIceberg: exactly one snapshot for each committable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import pyarrow as pa
import structlog
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    BadRequestError,
    CommitFailedException,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
)
from pyiceberg.table import Table
from requests import RequestException
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.opened_tables import identifier_of
from service.adapters.commits.committed_rounds import late_counts_of, snapshot_of_round
from service.adapters.commits.engine_snapshot import PYICEBERG_WRITES_UP_TO, engine_snapshot
from service.adapters.commits.fits_table import check_fits_table
from service.adapters.commits.live_files import LiveFiles
from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.needed_deletes import NeededDeletes
from service.adapters.commits.prepare_row_delta import prepare_row_delta
from service.adapters.commits.prepare_vectors import Vectors, prepare_vectors
from service.adapters.commits.snapshot_append import ReadDataFile, SnapshotAppend
from service.adapters.commits.superseding.without_late import LateFilter, is_ordered
from service.adapters.commits.superseding.without_superseded import WithoutSuperseded, without_superseded
from service.adapters.data_files.metrics.content_files import data_file
from service.adapters.disk.synced_files import Sync, sync_files
from service.errors.gateway_error import PartDown
from service.errors.ingest_errors import CommittableUnreadable
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import CommitResult, Committable
from service.ports.tables.stored_orders import StoredOrders, StoredOrdersQuery
from service.ports.tables.table_changes import RoundEnded, RowDeltas, always_open
from service.ports.tables.vector_writer import VectorsQuery, VectorWriter, WrittenVectors

_NOT_THERE = (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError)
_LONGEST_PAUSE_S = 2.0
FIRST_WITH_VECTORS = 3
"""The first format version that has deletion vectors."""
# Failures to reach the storage or the catalog; some of them are ValueErrors, too.
_UNREACHED = (pa.ArrowException, RequestException)

log = structlog.get_logger(__name__)


class PyIcebergTableCommits:
    """The `TableCommits` port. Without `row_deltas` it takes no upserts.

    Without `stored_orders` it takes none whose records have an order. Without `vector_writer`, or for more
    than `vector_rows` deleted rows, upserts into tables of format version 3 write equality deletes, too.

    Several processes may call it for the same round at once. The catalog rejects the second commit; its
    process then looks again, and finds the round in the table. PyIceberg's own retries are not used: they
    would commit the same files again without looking, and under another partition spec.
    """

    def __init__(
        self,
        catalogs: PyIcebergCatalogs,
        read_data_file: ReadDataFile,
        first_pause_s: float = 0.05,
        conflicts_within_s: float = 15.0,
        row_deltas: RowDeltas | None = None,
        sync: Sync = sync_files,
        upsert_listed_files: int = 1_000,
        stored_orders: StoredOrders | None = None,
        ordered_keys_at_once: int = 250_000,
        vector_writer: VectorWriter | None = None,
        vector_rows: int = 1_000_000,
    ) -> None:
        self._catalogs = catalogs
        self._read_data_file = read_data_file
        self._first_pause_s = first_pause_s
        self._conflicts_within_s = conflicts_within_s
        self._row_deltas = row_deltas
        self._sync = sync
        self._lists = ManifestLists(sync)
        self._needed = NeededDeletes(LiveFiles(upsert_listed_files))
        self._vectors: Vectors | None = None
        if vector_writer is not None and vector_rows:
            self._vectors = Vectors(_VectorsOutOfTurn(catalogs, vector_writer), self._needed, vector_rows)
        self._late: LateFilter | None = None
        if stored_orders is not None:
            late = LateFilter(self._needed, _OutOfTurn(catalogs, stored_orders), sync, ordered_keys_at_once)
            self._late = late

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        """Adds all files in one snapshot, once: a round that the table already has is not added again.

        Raises:
            RoundEnded: the round is not waiting any more; nothing was added.
            TableChanged: the files no longer fit the table; its partition spec or a column of theirs is gone.
            TableNotFound: the table is gone.
            UpsertNotPossible: the table holds rows that the deletes of an upsert would not reach.
            CommittableUnreadable: the descriptions of these files cannot be committed.
            PartDown: the catalog does not answer, other commits keep conflicting, the table itself is at
                fault, or the engine, which upserts need, is down; try again later.
        """
        if self._row_deltas is None and _has_deletes(committable):
            raise ValueError("an append takes no delete files")
        if self._late is None and is_ordered(committable):
            raise ValueError("nothing reads the order of stored rows")
        name = committable.key.table
        retrying = Retrying(
            retry=retry_if_exception_type(CommitFailedException),
            wait=wait_random_exponential(multiplier=self._first_pause_s, max=_LONGEST_PAUSE_S),
            stop=stop_after_delay(self._conflicts_within_s),
            retry_error_callback=partial(_give_up, str(name)),
        )
        spent: list[SnapshotAppend] = []
        try:
            result: CommitResult = retrying(
                self._catalogs.ask,
                name.catalog,
                lambda catalog: self._attempt(catalog, committable, spent, is_open),
            )
            return result
        except _NOT_THERE as error:
            raise TableNotFound(str(name)) from error

    def _attempt(
        self,
        catalog: Catalog,
        committable: Committable,
        spent: list[SnapshotAppend],
        is_open: Callable[[], bool],
    ) -> CommitResult:
        table = catalog.load_table(identifier_of(committable.key.table))
        _discard(spent, table)
        found = snapshot_of_round(table.metadata, committable.key.branch, committable.round_id)
        if found is not None:
            late = late_counts_of(table.metadata, found, len(committable.write_results))
            return _result(committable, found, late, is_repeated=True)
        # The table does not have the round. Another process may have committed it long ago, and its traces
        # may be gone; the log recorded the commit before they went. From here on, a commit by another process
        # changes the table, so this one would conflict.
        if not is_open():
            raise RoundEnded
        check_fits_table(table.metadata, committable)
        append = self._prepared(table, committable)
        # Recorded first: only the table shows whether a rejected commit was made nevertheless.
        spent.append(append)
        self._published(catalog, table, append)
        append.remove_left_out()
        return _result(committable, append.snapshot_id, append.late_counts, is_repeated=False)

    def _prepared(self, table: Table, committable: Committable) -> SnapshotAppend:
        try:
            return self._prepare(table, committable)
        except CommittableUnreadable as error:
            count, reason = len(error.data_files), repr(error.__cause__)
            log.error("files_undescribable", table=str(committable.key.table), files=count, reason=reason)
            raise
        except ValueError as error:
            if isinstance(error, _UNREACHED):
                raise
            raise _not_as_it_is(table, error) from error

    def _prepare(self, table: Table, committable: Committable) -> SnapshotAppend:
        if not _has_deletes(committable):
            return self._prepare_append(table, committable, self._read_data_file)
        joined = self._joined(table, committable)
        try:
            prepared = self._prepare_upserts(table, joined.committable)
        except BaseException:
            joined.discard(table.io)
            raise
        return prepared.owning(joined.written).leaving_out(joined.left_out)

    def _joined(self, table: Table, committable: Committable) -> WithoutSuperseded:
        if is_ordered(committable):
            assert self._late is not None
            # The snapshot is committed only if the branch still has the head that is compared with.
            return self._late.without_late(table, committable)
        return without_superseded(table, committable, self._sync)

    def _prepare_upserts(self, table: Table, committable: Committable) -> SnapshotAppend:
        assert self._row_deltas is not None
        # Files that come with equality deletes were written here; those of appends may be from another
        # writer.
        prepare_append = partial(self._prepare_append, table, committable, data_file)
        if self._vectors is not None and table.metadata.format_version >= FIRST_WITH_VECTORS:
            prepared = prepare_vectors(
                table, committable, self._vectors, self._row_deltas, prepare_append, self._sync
            )
            if prepared is not None:
                return prepared
        return prepare_row_delta(
            table, committable, self._needed, self._row_deltas, prepare_append, self._sync
        )

    def _prepare_append(
        self, table: Table, committable: Committable, read_data_file: ReadDataFile
    ) -> SnapshotAppend:
        if table.metadata.format_version <= PYICEBERG_WRITES_UP_TO:
            return SnapshotAppend.prepare(table, committable, read_data_file, self._lists)
        if self._row_deltas is None:
            raise ValueError("nothing writes the manifests of this format version")
        return engine_snapshot(table, committable, self._row_deltas, self._sync)

    def _published(self, catalog: Catalog, table: Table, append: SnapshotAppend) -> None:
        before = table.metadata_location
        try:
            self._publish(append)
        except (ValueError, BadRequestError) as error:
            if isinstance(error, _UNREACHED):
                raise
            # The requirements do not cover the table's other branches, but its sequence numbers do. PyIceberg
            # and some servers report such a change as an invalid commit, not as a conflict.
            if catalog.load_table(table.name()).metadata_location != before:
                raise CommitFailedException(f"{'.'.join(table.name())} was committed to meanwhile") from error
            raise _not_as_it_is(table, error) from error

    def _publish(self, append: SnapshotAppend) -> None:
        append.publish()


@dataclass(frozen=True, slots=True)
class _OutOfTurn:
    """Implements `StoredOrders`: a catalog that answers one at a time answers others during a read."""

    catalogs: PyIcebergCatalogs
    stored: StoredOrders

    def of(self, asked: StoredOrdersQuery) -> pa.Table:
        with self.catalogs.out_of_turn(asked.key.table.catalog):
            return self.stored.of(asked)


@dataclass(frozen=True, slots=True)
class _VectorsOutOfTurn:
    """Implements `VectorWriter`, in the same way."""

    catalogs: PyIcebergCatalogs
    writer: VectorWriter

    def write(self, asked: VectorsQuery) -> WrittenVectors | None:
        with self.catalogs.out_of_turn(asked.key.table.catalog):
            return self.writer.write(asked)


def _not_as_it_is(table: Table, error: Exception) -> PartDown:
    """Something in the table itself is at fault, for example a property. The catalog has answered."""
    return PartDown(f"{'.'.join(table.name())} cannot be committed to as it is: {error}")


def _has_deletes(committable: Committable) -> bool:
    return any(result.target.is_upsert or result.delete_files for result in committable.write_results)


def _discard(spent: list[SnapshotAppend], table: Table) -> None:
    while spent:
        append = spent.pop()
        if table.metadata.snapshot_by_id(append.snapshot_id) is None:
            append.discard()


def _give_up(name: str, state: RetryCallState) -> NoReturn:
    last = state.outcome.exception() if state.outcome else None
    raise CatalogDown(f"Other writers commit to {name} all the time.") from last


def _result(
    committable: Committable, snapshot_id: int, late_counts: tuple[int, ...], *, is_repeated: bool
) -> CommitResult:
    results = committable.write_results
    return CommitResult(
        key=committable.key,
        snapshot_id=snapshot_id,
        added_data_files=sum(len(result.data_files) for result in results),
        added_records=sum(result.record_count for result in results),
        added_bytes=sum(result.byte_count for result in results),
        is_repeated=is_repeated,
        late_counts=late_counts,
    )
