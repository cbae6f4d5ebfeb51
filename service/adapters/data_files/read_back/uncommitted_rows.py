"""Reads rows, batch by batch, from data files that do not belong to a table yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.schema import Schema

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.data_files.layout.file_schema import file_schema
from service.adapters.data_files.layout.stored_variants import logical_schema, stored_schema, with_ids
from service.adapters.data_files.plan.cached_io import cached_io
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.projected_array import projected_columns
from service.errors.ingest_errors import CommittableUnreadable, IngestInvalid, WrittenFileMissing
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import WritableTable, WriteTarget
from service.model.tables.schemas import Field

_BATCH_ROWS = 16_384


class ParquetWrittenRows:
    """Implements `service.ports.tables.data_files.WrittenRows`. Thread-safe."""

    def columns(self, table: WritableTable, data_file: str) -> tuple[Field, ...]:
        """Returns the fields of a file, with their ids and types when it was written.

        Raises:
            WrittenFileMissing: the file does not exist.
            CommittableUnreadable: it is not a data file.
            StorageDown: the table's storage does not return it.
        """
        with _opened(WriterState.decoded(table.state), data_file, str(table.key.table)) as (parquet, _):
            return table_schema(_schema(parquet)).columns

    def batches(
        self, table: WritableTable, target: WriteTarget, data_files: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yields the rows of these files, with the target's columns as the table has them now, in its order.

        Columns are found by their ids; a column that a file does not have reads as NULL.

        Raises:
            WrittenFileMissing: a file does not exist.
            CommittableUnreadable: a file has other rows than its description says.
            StorageDown: the table's storage does not return it.
        """
        state = WriterState.decoded(table.state)
        try:
            wanted = file_schema(state.schema, target.write_schema_column_ids)
        except ValueError as error:
            raise IngestInvalid(str(error)) from error
        yield from written_batches(state, wanted, data_files, str(table.key.table))


def written_batches(
    state: WriterState, wanted: Schema, files: Iterable[str], table: str, batch_rows: int = _BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Yields rows of a table's data files, or keys of its delete files, with the wanted columns in order.

    Other columns are not read.

    Raises:
        WrittenFileMissing: a file does not exist.
        CommittableUnreadable: a file has other rows than its description says.
        StorageDown: the table's storage does not return it.
    """
    for file in files:
        with _opened(state, file, table) as (parquet, record_count):
            if parquet.metadata.num_rows != record_count:
                raise CommittableUnreadable("A file has other rows than it was written with.")
            names = _names(_schema(parquet), wanted)
            stored = stored_schema(wanted)
            for batch in parquet.iter_batches(batch_rows, columns=names):
                yield projected_columns(batch, pyarrow_to_schema(with_ids(batch.schema)), stored)


def _names(found: Schema, wanted: Schema) -> list[str]:
    ids = {field.field_id for field in wanted.fields}
    return [field.name for field in found.fields if field.field_id in ids]


def _schema(parquet: pq.ParquetFile) -> Schema:
    return logical_schema(pyarrow_to_schema(with_ids(parquet.schema_arrow)))


@contextmanager
def _opened(state: WriterState, file: str, table: str) -> Iterator[tuple[Any, int]]:
    """The open file, and the number of rows that its description states."""
    content = json.loads(file)
    try:
        with (
            cached_io(state).new_input(content["file-path"]).open() as stream,
            pq.ParquetFile(stream) as parquet,
        ):
            yield parquet, content["record-count"]
    except FileNotFoundError as error:
        raise WrittenFileMissing from error
    except pa.ArrowInvalid as error:
        raise CommittableUnreadable("A file that was written cannot be read.") from error
    except OSError as error:
        raise StorageDown(f"The storage of {table} does not return files.") from error
