"""Data files in Parquet, on the table's storage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyiceberg.io import load_file_io

from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.plan.write_properties import WriteProperties
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.data_files.writer.key_parts import key_parts
from service.adapters.data_files.writer.turns import out_of_turn
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.data_files.writer.write_fan import write_fan
from service.adapters.disk.synced_files import sync_files
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Destination, WritableTable, WriteResult, WriteTarget


class ParquetDataFiles:
    """Implements `service.ports.tables.data_files.DataFiles`. Thread-safe.

    `sync` makes files durable, so that they survive a power failure, before they are reported.
    """

    def __init__(self, bounds: WriteBounds, sync: Callable[[Iterable[str]], None] = sync_files) -> None:
        self._bounds = bounds
        self._sync_files = sync

    def write(
        self, table: WritableTable, target: WriteTarget, batches: Iterable[pa.RecordBatch]
    ) -> WriteResult:
        """Writes rows, which have the target's columns in its order, into files for this target alone.

        Raises:
            StorageDown: the table's storage does not accept them.
            IngestInvalid: no files can be written for this target.
            RecordsInvalid: a value does not fit its column.
        """
        try:
            written = write_data_files(WriterState.decoded(table.state), target, batches, self._bounds)
            self._sync([written], {target: table})
            return written
        except OSError as error:
            # The storage's message may name accounts and hosts, so only the log gets it.
            raise StorageDown(f"The storage of {table.key.table} does not accept files.") from error

    def write_all(self, rows: Iterable[tuple[Destination, pa.RecordBatch]]) -> list[WriteResult]:
        """Writes several targets at once within one memory bound; one result for each target with rows.

        The rows of a target keep their order. If it fails, no file of any target is left.

        Raises:
            StorageDown: a table's storage does not accept them.
            IngestInvalid: no files can be written for a target.
            RecordsInvalid: a value does not fit its column.
        """
        tables: dict[WriteTarget, WritableTable] = {}
        try:
            written = write_fan(_noted(rows, tables), self._bounds)
            self._sync(written, tables)
            return written
        except OSError as error:
            raise StorageDown("The storage of the tables does not accept files.") from error

    def target_bytes(self, table: WritableTable) -> int:
        """The file size that the table asks for."""
        return WriteProperties(WriterState.decoded(table.state).properties).target_file_bytes

    def key_parts(
        self, destination: Destination, rows: pa.RecordBatch, count: int
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yields an upsert's rows in order, each batch with the part, below `count`, that its keys belong to.

        Raises:
            IngestInvalid: the keys of this target cannot distinguish rows.
            RecordsInvalid: a value does not fit its column.
        """
        return key_parts(WriterState.decoded(destination.table.state), destination.target, rows, count)

    def discard(self, table: WritableTable, result: WriteResult) -> None:
        """Deletes files that will never be committed, as far as possible now."""
        state = WriterState.decoded(table.state)
        delete_files(load_file_io(dict(state.io_properties), state.location), _locations([result]))

    def _sync(self, written: Sequence[WriteResult], tables: Mapping[WriteTarget, WritableTable]) -> None:
        try:
            with out_of_turn():
                self._sync_files(_locations(written))
        except BaseException:
            for result in written:
                self.discard(tables[result.target], result)
            raise


def _noted(
    rows: Iterable[tuple[Destination, pa.RecordBatch]], tables: dict[WriteTarget, WritableTable]
) -> Iterator[tuple[Destination, pa.RecordBatch]]:
    for destination, batch in rows:
        tables[destination.target] = destination.table
        yield destination, batch


def _locations(results: Iterable[WriteResult]) -> list[str]:
    return locations_of(file for result in results for file in (*result.data_files, *result.delete_files))
