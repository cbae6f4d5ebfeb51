"""The external parts that an ingest needs: small Protocols, named for the need.

Adapters implement them in `service.adapters` and `spark_session`; fakes in `tests/fakes` pass the same
contract suite. Only `api/bootstrap/wiring_ingests.py` brings them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar
from uuid import UUID

from service.model.ingest.ingest import (
    IngestBacklog,
    IngestRecord,
    PendingRound,
    StreamedRecords,
    WaitingIngests,
)
from service.model.ingest.ingest_history import IngestListing, TableIngests
from service.model.ingest.sources import SourceFile, SourceSplit
from service.model.ingest.writing import (
    CommitResult,
    Committable,
    Destination,
    RowDelta,
    TableKey,
    WritableTable,
    WriteResult,
    WriteTarget,
)
from service.model.tables.schema_changes import SchemaChange
from service.model.tables.schemas import Field
from service.model.tables.table_creation import TableCreation
from service.model.tables.tables import SortField, TableName

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")


def always_open() -> bool:
    """For rounds that no other process can end."""
    return True


def never() -> bool:
    """For work that cannot be canceled."""
    return False


OnRefused = Callable[[int], None]
"""Called with the number of accepted ingests that one of their tables has just refused."""


def count_nothing(_: int) -> None:
    """For callers that count nothing."""


class RoundEnded(Exception):
    """Another process has ended the round, or put other files into it."""


class WritableTables(Protocol):
    """Tables as seen by those that write to them."""

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """Returns the table as it is now; the first commit to a missing branch creates it.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name.
            IngestInvalid: the branch is a tag.
            CatalogDown: the catalog does not answer.
        """


class TableChanges(Protocol):
    """Creates tables, changes their schemas, and registers sort orders with them."""

    def check_creation(self, name: TableName, creation: TableCreation) -> None:
        """Checks that `create` would accept the creation, as far as is known without asking the catalog.

        Raises:
            CreationInvalid: `create` would refuse it.
        """

    def create(self, name: TableName, creation: TableCreation) -> bool:
        """Creates the table and its missing schemas; returns False if the table exists by now.

        Raises:
            CreationInvalid: the catalog does not take such a table.
            CatalogDown: the catalog does not answer.
        """

    def evolve(self, table: WritableTable, changes: Sequence[SchemaChange]) -> bool:
        """Makes all changes in one commit; returns False, and changes nothing, if the schema is another now.

        Raises:
            SchemaMismatch: the table cannot take the changes.
            TableNotFound: the table is gone.
            CatalogDown: the catalog does not answer, or others commit all the time.
        """

    def add_sort_orders(self, table: WritableTable, orders: Sequence[tuple[SortField, ...]]) -> bool:
        """Registers these orders with the table, in one commit; its default order stays.

        Returns False, and changes nothing, if the table has one of them by now, or its schema is another one.

        Raises:
            SchemaMismatch: rows of this table cannot be in such an order.
            TableNotFound: the table is gone.
            CatalogDown: the catalog does not answer, or others commit all the time.
        """


class DataFiles(Protocol):
    """Writes data files that belong to no table yet."""

    def write(
        self, table: WritableTable, target: WriteTarget, batches: Iterable[pa.RecordBatch]
    ) -> WriteResult:
        """Writes the rows, which have the target's columns in its order, into files of the target alone.

        The batches are taken one after the other; memory does not grow with their number. Either all files
        are there, or none.

        Raises:
            StorageDown: the table's storage does not take them.
        """

    def write_all(self, rows: Iterable[tuple[Destination, pa.RecordBatch]]) -> list[WriteResult]:
        """Writes several targets at once, in one bound of memory; one result for each that has rows.

        The rows of a target keep their order. Either all files of all targets are there, or none.

        Raises:
            StorageDown: a table's storage does not take them.
        """

    def discard(self, table: WritableTable, result: WriteResult) -> None:
        """Deletes files that will never be committed, as far as that is possible now."""

    def target_bytes(self, table: WritableTable) -> int:
        """Returns the table's target file size; files are about as large if there are enough rows."""

    def key_parts(
        self, destination: Destination, rows: pa.RecordBatch, count: int
    ) -> Iterable[tuple[int, pa.RecordBatch]]:
        """Yields the rows of an upsert in their order, each with the part, below `count`, of its key.

        Rows of one key are always in the same part, wherever and whenever this is called. So the rows of one
        part can be written without the others.

        Raises:
            RecordsInvalid: a value does not fit its column.
        """


class WrittenRows(Protocol):
    """Reads back data files that were written for a table and do not belong to it yet."""

    def columns(self, table: WritableTable, data_file: str) -> tuple[Field, ...]:
        """Returns the fields of a file, with the ids and types that it was written with.

        Raises:
            WrittenFileMissing: the file is not there.
            CommittableUnreadable: it is not a data file.
            StorageDown: the table's storage does not give it.
        """

    def batches(
        self, table: WritableTable, target: WriteTarget, data_files: Sequence[str]
    ) -> Iterable[pa.RecordBatch]:
        """Reads the rows of these files with the target's columns, in its order and of their types of today.

        Columns are found by their ids; a column that a file does not have is NULL.

        Raises:
            WrittenFileMissing: a file is not there.
            CommittableUnreadable: a file has other rows than its description says.
            StorageDown: the table's storage does not give it.
        """


class DeadLetterTables(Protocol):
    """Tables for rejected records, one beside each table that records are sent to."""

    def opened(self, name: TableName) -> WritableTable:
        """Returns the dead-letter table with this name; creates it if it is missing.

        Raises:
            IngestInvalid: there is another table of that name.
            CatalogDown: the catalog does not answer.
        """


class Spool(Protocol):
    """One body while it is received and read, or its unpacked bytes; for one thread at a time."""

    def write(self, data: bytes | bytearray) -> None:
        """Adds to the end.

        Raises:
            TooManyIngests: other bodies take all of the allowed room.
            IngestInvalid: this body alone exceeds the allowed room.
            StorageDown: there is no more room.
        """

    def open(self) -> BinaryIO:
        """Opens the whole body at its beginning; the stream can seek."""

    def close(self) -> None:
        """Releases the body. May be called again."""


class Spools(Protocol):
    """Where bodies are kept that are not held in memory."""

    def new(self) -> Spool:
        """Creates an empty spool. Close it.

        Raises:
            StorageDown: there is no room.
        """


class IngestLog(Protocol):
    """Accepted ingests until they are committed, and what became of them since."""

    def accept(self, record: IngestRecord, results: Sequence[WriteResult]) -> IngestRecord:
        """Keeps the ingest durably; from now on it will be committed, whatever happens to this process.

        The exception is a table that changes so that the commit is impossible; the state then reports it
        (`IngestState`). The first of a caller's requests with the same `request_id` wins: all get its record.

        Raises:
            MetricsStoreDown: the log does not answer; the ingest may or may not be in it.
        """

    def find(self, ingest_id: UUID) -> IngestRecord | None:
        """Returns the ingest as it is now.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> IngestRecord | None:
        """Returns the ingest by the id that this caller gave the request.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def waiting(self) -> WaitingIngests:
        """Counts what waits to be committed, of all replicas. An ingest of several tables counts once.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def round(
        self, key: TableKey, max_files: int, on_refused: OnRefused = count_nothing
    ) -> AbstractContextManager[PendingRound | None]:
        """Takes what waits for one table and branch, as one round that nobody else has while it is open.

        Yields None if nothing waits, or another replica has the round. A round that a crash left open comes
        again before anything new, with the same id and files. `on_refused` is called with the number of its
        ingests that were refused, some or all, as soon as the log has it.

        Raises:
            MetricsStoreDown: the log does not answer.
        """


class RowDeltas(Protocol):
    """Builds snapshots of rows and deletes that belong to no table yet."""

    def prepare(self, delta: RowDelta) -> str | None:
        """Writes the manifests of one snapshot, and returns Iceberg's JSON of it.

        Returns None if the table's metadata is no longer the one at the delta's location; look again.

        Raises:
            CommittableUnreadable: a file is described in a way that cannot be committed.
            PartDown: the builder is down, or does not find the table; try again later.
        """


class IngestHistory(Protocol):
    """The ingest log, read for many ingests at once, and kept small."""

    def ingests(self, listing: IngestListing) -> Sequence[IngestRecord]:
        """Lists a caller's ingests, the newest first.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def tables(self, since: datetime, table: str | None) -> Sequence[TableIngests]:
        """Lists, by name, every table that data was accepted for or committed to since then.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def forget_before(self, moment: datetime, limit: int) -> int:
        """Deletes at most `limit` ingests that ended before then, except those with a part that waits.

        Also kept is an ingest of a stream's batch that its stream does not know to be done: the batch may
        come again. Returns how many were deleted. Their files belong to the table, or to nothing.

        Raises:
            MetricsStoreDown: the log does not answer.
        """


class IngestMetrics(Protocol):
    """Metrics of what this process has ingested since its start. Nothing blocks, nothing raises."""

    def accepted(self, record: IngestRecord) -> None:
        """Counts an ingest that is durable now."""

    def refused(self, code: str) -> None:
        """Counts a request that was refused as a whole, by the code of its error."""

    def rejected(self, record_count: int) -> None:
        """Counts records that did not fit."""

    def round_ended(self, committable: Committable, error_code: str | None, took_ms: int) -> None:
        """Counts a commit round, and its ingests unless it was refused with an `error_code`."""

    def round_postponed(self, code: str) -> None:
        """Counts a commit round that is tried again, by the code of the error that stopped it."""

    def committed_after(self, lags_ms: Sequence[int]) -> None:
        """Counts how long ingests waited from their acceptance until they were in a table."""

    def failed(self, ingest_count: int) -> None:
        """Counts accepted ingests that one of their tables has refused."""

    def backlog(self, backlog: IngestBacklog) -> None:
        """Sets the current backlog."""


class TableCommits(Protocol):
    """Makes snapshots."""

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        """Adds all files in one snapshot, once: a round that is already in the table is not added again.

        `is_open` returns whether the round still waits with these files. It is called after the table was
        read.

        Raises:
            RoundEnded: the round does not wait any more; nothing was added.
            TableChanged: the files no longer fit the table: its partition spec or a column is another.
            CommittableUnreadable: these files are described in a way that cannot be committed.
            UpsertNotPossible: the table holds rows that the deletes of an upsert would not reach.
            TableNotFound: the table is not there.
            PartDown: the catalog does not answer, others commit all the time, the table itself is at fault,
                or a part that upserts need is down; try again later.
        """


class Sources(Protocol):
    """Files that callers name, in locations that the operator allows."""

    def files(self, uri: str, is_canceled: Callable[[], bool] = never) -> Sequence[SourceFile]:
        """Returns the files at this address now, in the order of their names; at least one.

        Raises:
            SourceInvalid: it is not an address, matches no file, matches more than may be read at once, or
                takes too long to list.
            IngestCanceled: `is_canceled` returned True during the listing.
            SourceNotAllowed: the operator has not allowed it.
            StorageDown: the storage does not answer.
        """


class SplitOpener(Protocol):
    """Opens parts of sources wherever it is called: it can be pickled, and travels to executors."""

    def __call__(self, split: SourceSplit) -> AbstractContextManager[BinaryIO]:
        """Opens the bytes of the split.

        Raises:
            SourceChanged: the file differs from the one that was listed, before or after it was read.
            SourceNotAllowed: a link that was put there since leads elsewhere.
            OSError: the storage does not give it.
        """


class StagedBody(Protocol):
    """A body as it was sent, where executors find it: it can be pickled, and travels to them."""

    def open(self) -> BinaryIO:
        """Opens the whole body; the stream can seek.

        Raises, also while it is read:
            StorageDown, OSError: it is not there, or not given.
        """


class StagedBodies(Protocol):
    """Stages bodies where executors find them."""

    def staged(self, body: StreamedRecords, table: WritableTable) -> AbstractContextManager[StagedBody]:
        """Stages the body until the context ends; it may lie beside this table's files.

        Raises:
            StorageDown: there is no place for it.
        """


class Executors(Protocol):
    """Runs functions on many cores, or many machines, at once."""

    @property
    def slots(self) -> int:
        """Returns how many items are worked on at once when nothing else runs."""

    def map(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:
        """Returns the function's result for each item, in order. All three can be pickled.

        An item may be worked on more than once, also at the same time; one of its results is returned.

        Raises:
            ExecutorsFailed: an item failed again and again.
            EngineNotReady, EngineLost: there is no engine to run it on.
        """

    def regroup(
        self,
        apart: Callable[[T], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        items: Sequence[T],
        part_count: int,
        tag: str,
    ) -> list[R]:
        """Groups the values of `apart` by their part, below `part_count`; returns each part's `together`.

        `together` gets the values in the order of their items and, within an item, in the order that `apart`
        yielded them. It also runs for a part without values, but without items there are no parts. Both
        functions follow the rules of `map` for items. The values need not fit into memory.

        Raises:
            ExecutorsFailed: an item or a part failed again and again.
            EngineNotReady, EngineLost: there is no engine to run it on.
        """
