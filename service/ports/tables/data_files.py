"""Data files: written, and read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from service.model.ingest.writing import Destination, WritableTable, WriteResult, WriteTarget
from service.model.tables.schemas import Field

if TYPE_CHECKING:
    import pyarrow as pa


class DataFiles(Protocol):
    """Writes data files that belong to no table yet."""

    def write(
        self, table: WritableTable, target: WriteTarget, batches: Iterable[pa.RecordBatch]
    ) -> WriteResult:
        """Writes the rows, which have the target's columns in its order, into files of the target alone.

        The batches are taken one after the other; memory does not grow with their number. Either all files
        are there, or none. The batches of an upsert may have `DELETE_MARK` as one more column: a marked row
        only deletes its key.

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
