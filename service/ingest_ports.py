"""What an ingest needs from outside: Protocols of at most five methods, named for the need.

Adapters implement them in `service.adapters` and `spark_session`; fakes in `tests/fakes` under the same
contract suite. `api/wiring_ingests.py` alone brings them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, Protocol
from uuid import UUID

from service.model.ingest import IngestBacklog, IngestRecord, PendingRound
from service.model.ingest_history import ForgottenIngests, IngestListing, TableIngests
from service.model.tables import TableName
from service.model.writing import (
    CommitResult,
    Committable,
    Destination,
    RowDelta,
    TableKey,
    WritableTable,
    WriteResult,
    WriteTarget,
)

if TYPE_CHECKING:
    import pyarrow as pa


class WritableTables(Protocol):
    """Tables as those see them who write to them."""

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """The table as it is now; a branch that is not there yet is made by the first commit to it.

        Raises:
            TableNotFound: there is none of that name.
            CatalogDown: the catalog does not answer.
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


class DeadLetterTables(Protocol):
    """Tables for records that did not fit, one beside each table that records are sent to."""

    def opened(self, name: TableName) -> WritableTable:
        """The table of dead letters with this name, made if it is not there.

        Raises:
            IngestInvalid: there is another table of that name.
            CatalogDown: the catalog does not answer.
        """


class Spool(Protocol):
    """One body while it is received and read; for one thread at a time."""

    def write(self, data: bytes | bytearray) -> None:
        """Adds to the end.

        Raises:
            StorageDown: there is no more room.
        """

    def open(self) -> BinaryIO:
        """All of it, from its beginning."""

    def close(self) -> None:
        """Lets go of it. May be called again."""


class Spools(Protocol):
    """Where bodies lie that are not held in memory."""

    def new(self) -> Spool:
        """An empty one. Close it."""


class IngestLog(Protocol):
    """What was accepted, for as long as it is not committed, and what became of it since."""

    def accept(self, record: IngestRecord, results: Sequence[WriteResult]) -> IngestRecord:
        """Keeps the ingest durably; from now on it will be committed, whatever happens to this process.

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

    def waiting(self) -> Sequence[TableKey]:
        """Where something waits to be committed, of all replicas, what has waited longest first.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def round(self, key: TableKey, max_files: int) -> AbstractContextManager[PendingRound | None]:
        """What waits for one table and branch, as one round that nobody else has for as long as it is open.

        None: nothing waits, or another replica has the round. A round that a crash left open is given again,
        with the same id and the same files, before anything new.

        Raises:
            MetricsStoreDown: the log does not answer.
        """


class RowDeltas(Protocol):
    """Makes snapshots of rows and of deletes, which belong to no table yet."""

    def prepare(self, delta: RowDelta) -> str | None:
        """Writes the manifests of one snapshot, and gives Iceberg's JSON of it.

        None: the table's metadata is not the one at the delta's location any more; look again.

        Raises:
            CommittableUnreadable: a file is described in a way that cannot be understood.
            TableNotFound: the table is gone.
            PartDown: what makes them is down; try again later.
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

    def forget_before(self, moment: datetime, limit: int) -> ForgottenIngests:
        """Deletes ingests that ended before then, so many at most; never one of which something waits.

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
        """Counts a commit round; `error_code`: it was refused, with all that was in it."""

    def backlog(self, backlog: IngestBacklog) -> None:
        """Sets what waits now."""


class TableCommits(Protocol):
    """Makes snapshots."""

    def commit(self, committable: Committable) -> CommitResult:
        """Adds all files in one snapshot, once: a round that is in the table already is not added again.

        Raises:
            TableChanged: the files no longer fit the table: its partition spec or a column is another.
            UpsertNotPossible: the table holds rows that the deletes of an upsert would not reach.
            TableNotFound: the table is gone.
            PartDown: the catalog does not answer, others commit all the time, or what upserts need is down;
                try again later.
        """
