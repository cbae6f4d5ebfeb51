"""What an ingest needs from outside: Protocols of at most five methods, named for the need.

Adapters implement them in `service.adapters` and `spark_session`; fakes in `tests/fakes` under the same
contract suite. `api/bootstrap/wiring_ingests.py` alone brings them together.
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
    """For rounds that nobody else can end."""
    return True


def never() -> bool:
    """For what is not canceled by anybody."""
    return False


OnRefused = Callable[[int], None]
"""Is told how many accepted ingests one of their tables has just refused."""


def told_to_nobody(_: int) -> None:
    """For those who count nothing."""


class RoundEnded(Exception):
    """Somebody else has ended the round, or put other files into it."""


class WritableTables(Protocol):
    """Tables as those see them who write to them."""

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """The table as it is now; a branch that is not there yet is made by the first commit to it.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: there is none of that name.
            IngestInvalid: the branch is a tag.
            CatalogDown: the catalog does not answer.
        """


class TableChanges(Protocol):
    """Makes tables, changes their schemas, and makes sort orders known to them."""

    def check_creation(self, name: TableName, creation: TableCreation) -> None:
        """Returns where `create` would not refuse it, as far as that can be told without asking the catalog.

        Raises:
            CreationInvalid: it would.
        """

    def create(self, name: TableName, creation: TableCreation) -> bool:
        """Makes the table, and the schemas around it that are missing; False when it is there by now.

        Raises:
            CreationInvalid: the catalog does not take such a table.
            CatalogDown: the catalog does not answer.
        """

    def evolve(self, table: WritableTable, changes: Sequence[SchemaChange]) -> bool:
        """Makes all changes as one commit of its own; False, and none, when the schema is another now.

        Raises:
            SchemaMismatch: the changes are none that this table can take.
            TableNotFound: the table is gone.
            CatalogDown: the catalog does not answer, or others commit all the time.
        """

    def add_sort_orders(self, table: WritableTable, orders: Sequence[tuple[SortField, ...]]) -> bool:
        """Makes these orders known to the table, as one commit of its own; its default order stays.

        False, and nothing is changed, when it knows one of them by now, or its schema is another one.

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
        """Puts the rows, which have the target's columns in its order, into files of the target's own.

        The batches are taken one after the other; memory does not grow with their number. Either all files
        are there, or none.

        Raises:
            StorageDown: the table's storage does not take them.
        """

    def write_all(self, rows: Iterable[tuple[Destination, pa.RecordBatch]]) -> list[WriteResult]:
        """The same for several targets at once, in one bound of memory: one result for each that has rows.

        The rows of a target keep their order. Either all files of all targets are there, or none.

        Raises:
            StorageDown: a table's storage does not take them.
        """

    def discard(self, table: WritableTable, result: WriteResult) -> None:
        """Deletes files that will never be committed, as far as that is possible now."""

    def target_bytes(self, table: WritableTable) -> int:
        """How large the table wants its files; they are about as large where there are rows enough."""

    def key_parts(
        self, destination: Destination, rows: pa.RecordBatch, count: int
    ) -> Iterable[tuple[int, pa.RecordBatch]]:
        """The rows of an upsert in their order, each with the part, below `count`, that its key belongs to.

        Rows of one key are in one part, wherever and whenever this is asked, so that those of one part can be
        written without the others.

        Raises:
            RecordsInvalid: a value does not fit its column.
        """


class WrittenRows(Protocol):
    """Reads data files back that were written for a table and belong to it not yet."""

    def columns(self, table: WritableTable, data_file: str) -> tuple[Field, ...]:
        """The fields that a file has in it, with the ids and types of when it was written.

        Raises:
            WrittenFileMissing: the file is not there.
            CommittableUnreadable: it is none.
            StorageDown: the table's storage does not give it.
        """

    def batches(
        self, table: WritableTable, target: WriteTarget, data_files: Sequence[str]
    ) -> Iterable[pa.RecordBatch]:
        """The rows of these files, with the target's columns as the table has them now, in its order.

        Columns are found by their ids; what a file does not have is NULL.

        Raises:
            WrittenFileMissing: a file is not there.
            CommittableUnreadable: one has other rows than it was said to have.
            StorageDown: the table's storage does not give it.
        """


class DeadLetterTables(Protocol):
    """Tables for records that did not fit, one beside each table that records are sent to."""

    def opened(self, name: TableName) -> WritableTable:
        """The table of dead letters with this name, made if it is not there.

        Raises:
            IngestInvalid: there is another table of that name.
            CatalogDown: the catalog does not answer.
        """


class Spool(Protocol):
    """One body while it is received and read, or what is unpacked of it; for one thread at a time."""

    def write(self, data: bytes | bytearray) -> None:
        """Adds to the end.

        Raises:
            TooManyIngests: others take the room that there may be.
            IngestInvalid: it takes more than all of that by itself.
            StorageDown: there is no more room.
        """

    def open(self) -> BinaryIO:
        """All of it, from its beginning; it can be sought."""

    def close(self) -> None:
        """Lets go of it. May be called again."""


class Spools(Protocol):
    """Where bodies lie that are not held in memory."""

    def new(self) -> Spool:
        """An empty one. Close it.

        Raises:
            StorageDown: there is no room.
        """


class IngestLog(Protocol):
    """What was accepted, for as long as it is not committed, and what became of it since."""

    def accept(self, record: IngestRecord, results: Sequence[WriteResult]) -> IngestRecord:
        """Keeps the ingest durably; from now on it will be committed, whatever happens to this process.

        Unless its table changes so that it cannot be; that is told then (`IngestState`).
        Of a caller's requests with the same `request_id` the first wins: its record is what all get.

        Raises:
            MetricsStoreDown: the log does not answer; the ingest may or may not be in it.
        """

    def find(self, ingest_id: UUID) -> IngestRecord | None:
        """The ingest as it is now.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> IngestRecord | None:
        """The same, by the id that this caller gave the request.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def waiting(self) -> WaitingIngests:
        """What waits to be committed, of all replicas. An ingest of several tables is one.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def round(
        self, key: TableKey, max_files: int, on_refused: OnRefused = told_to_nobody
    ) -> AbstractContextManager[PendingRound | None]:
        """What waits for one table and branch, as one round that nobody else has for as long as it is open.

        None: nothing waits, or another replica has the round. A round that a crash left open is given again,
        with the same id and the same files, before anything new. `on_refused` is told how many of its
        ingests are refused, some or all, as soon as the log has it.

        Raises:
            MetricsStoreDown: the log does not answer.
        """


class RowDeltas(Protocol):
    """Makes snapshots of rows and of deletes, which belong to no table yet."""

    def prepare(self, delta: RowDelta) -> str | None:
        """Writes the manifests of one snapshot, and gives Iceberg's JSON of it.

        None: the table's metadata is not the one at the delta's location any more; look again.

        Raises:
            CommittableUnreadable: a file is described in a way that cannot be committed.
            PartDown: what makes them is down, or does not find the table; try again later.
        """


class IngestHistory(Protocol):
    """The ingest log, read for many ingests at once, and kept small."""

    def ingests(self, listing: IngestListing) -> Sequence[IngestRecord]:
        """A caller's ingests, the newest first.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def tables(self, since: datetime, table: str | None) -> Sequence[TableIngests]:
        """Every table that something was accepted for or committed to since then; in order of name.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def forget_before(self, moment: datetime, limit: int) -> int:
        """Deletes ingests that ended before then, so many at most; never one of which something waits.

        Nor one of a stream's batch that its stream does not know to be done: it may be given again. How many
        those were. Their files are the table's, or nobody's.

        Raises:
            MetricsStoreDown: the log does not answer.
        """


class IngestMeters(Protocol):
    """Numbers of what this process has ingested since its start. Nothing blocks, nothing raises."""

    def accepted(self, record: IngestRecord) -> None:
        """Counts an ingest that is durable now."""

    def refused(self, code: str) -> None:
        """Counts a request of which nothing was accepted, by the code of its error."""

    def rejected(self, record_count: int) -> None:
        """Counts records that did not fit."""

    def round_ended(self, committable: Committable, error_code: str | None, took_ms: int) -> None:
        """Counts a commit round, and its ingests unless it was refused, with an `error_code`."""

    def round_postponed(self, code: str) -> None:
        """Counts a commit round that is tried again, by the code of the error that was in its way."""

    def committed_after(self, lags_ms: Sequence[int]) -> None:
        """Counts how long ingests have waited from their acceptance until they were in a table."""

    def failed(self, ingest_count: int) -> None:
        """Counts accepted ingests that one of their tables has refused."""

    def backlog(self, backlog: IngestBacklog) -> None:
        """Sets what waits now."""


class TableCommits(Protocol):
    """Makes snapshots."""

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        """Adds all files in one snapshot, once: a round that is in the table already is not added again.

        `is_open` asks whether the round still waits as it is here. It is asked when the table has been looked
        at.

        Raises:
            RoundEnded: the round does not wait any more; nothing was added.
            TableChanged: the files no longer fit the table: its partition spec or a column is another.
            CommittableUnreadable: these files are described in a way that cannot be committed.
            UpsertNotPossible: the table holds rows that the deletes of an upsert would not reach.
            TableNotFound: the table is not there.
            PartDown: the catalog does not answer, others commit all the time, the table is at fault itself,
                or what upserts need is down; try again later.
        """


class Sources(Protocol):
    """Files that callers name, where the operator lets them."""

    def files(self, uri: str, is_canceled: Callable[[], bool] = never) -> Sequence[SourceFile]:
        """The files that an address means now, in the order of their names; one at least.

        Raises:
            SourceInvalid: it is no address, or means no file, or more than may be read at once, or it takes
                too long to find them.
            IngestCanceled: `is_canceled` said so meanwhile.
            SourceNotAllowed: the operator has not allowed it.
            StorageDown: the storage does not answer.
        """


class SplitOpener(Protocol):
    """Opens parts of sources wherever it is called: it is picklable, and travels to executors."""

    def __call__(self, split: SourceSplit) -> AbstractContextManager[BinaryIO]:
        """The bytes of the split.

        Raises:
            SourceChanged: the file is not the one that was listed, before it was read or after.
            SourceNotAllowed: a link that has been put there since leads elsewhere.
            OSError: the storage does not give it.
        """


class LaidBody(Protocol):
    """A body as it was sent, where executors find it: it is picklable, and travels to them."""

    def open(self) -> BinaryIO:
        """All of it; it can be sought.

        Raises, also while it is read:
            StorageDown, OSError: it is not there, or not given.
        """


class LaidBodies(Protocol):
    """Puts bodies where executors find them."""

    def laid(self, body: StreamedRecords, table: WritableTable) -> AbstractContextManager[LaidBody]:
        """The body, which is there until the context ends; it may lie beside this table's files.

        Raises:
            StorageDown: there is no place for it.
        """


class Executors(Protocol):
    """Runs functions on many cores, or many machines, at once."""

    @property
    def slots(self) -> int:
        """How many items are worked on at once, when nothing else runs."""

    def map(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:
        """What the function, which is picklable as items and results are, makes of each item, in their order.

        An item may be worked on more than once, also at the same time; one result of it is given.

        Raises:
            ExecutorsFailed: an item failed again and again.
            EngineNotReady, EngineLost: there is nothing to run it on.
        """

    def regroup(
        self,
        apart: Callable[[T], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        items: Sequence[T],
        part_count: int,
        tag: str,
    ) -> list[R]:
        """What `together` makes of each part: of all values that `apart` gave its number, below `part_count`.

        It gets them in the order of the items that they come from and, of one item, in theirs; a part without
        values too, but there are no parts without items. What `map` says of items holds for both functions.
        The values need not fit into memory.

        Raises:
            ExecutorsFailed: an item or a part failed again and again.
            EngineNotReady, EngineLost: there is nothing to run it on.
        """
