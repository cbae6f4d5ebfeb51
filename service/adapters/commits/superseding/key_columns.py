"""Reads keys from files of a round: each row's values in the equality fields of an upsert."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.table import Table

from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.layout.file_schema import file_schema
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.uncommitted_rows import written_batches
from service.errors.ingest_errors import CommittableUnreadable, WrittenFileMissing

# Few, so that long strings do not exceed by much the bound within which batches are collected.
BATCH_ROWS = 1_024
_BAD_DESCRIPTION = (ValueError, LookupError, TypeError)


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The equality fields with the table's current types, whatever types a file has."""

    state: WriterState
    schema: Schema
    kinds: tuple[pa.DataType, ...]
    table: str

    @staticmethod
    def of(table: Table, field_ids: tuple[int, ...]) -> KeyColumns:
        """Returns the columns with these ids, which the table must have."""
        state = writer_state(table)
        schema = file_schema(state.schema, field_ids)
        kinds = tuple(
            _stored_type(field.type) for field in schema_to_pyarrow(schema, include_field_ids=False)
        )
        return KeyColumns(state, schema, kinds, ".".join(table.name()))

    def batches(self, file: str) -> Iterator[list[pa.Array]]:
        """Yields the file's keys in row order, one column for each field.

        A column that the file does not have reads as NULL, or as its initial default.

        Raises:
            WrittenFileMissing, CommittableUnreadable: the file is at fault; the error names it.
            StorageDown: the storage does not return the file.
        """
        try:
            for batch in written_batches(self.state, self.schema, [file], self.table, BATCH_ROWS):
                yield [_stored(*pair) for pair in zip(batch.columns, self.kinds, strict=True)]
        except WrittenFileMissing as error:
            raise WrittenFileMissing(error.detail, [file]) from error
        except CommittableUnreadable as error:
            raise CommittableUnreadable(error.detail, [file]) from error
        except _BAD_DESCRIPTION as error:
            raise CommittableUnreadable(data_files=[file]) from error


def _stored_type(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _stored(column: pa.Array, kind: pa.DataType) -> pa.Array:
    values = column.storage if isinstance(column, pa.ExtensionArray) else column
    return values if values.type.equals(kind) else values.cast(kind)
