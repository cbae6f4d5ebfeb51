"""Reads rows that lie beside each other, at the beginnings of a table's files, with all columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.schema import Schema

from service.adapters.layouts.sampled_rows import file_names
from service.model.tables.table_layout import LayoutFile

_BATCH_ROWS = 8_192
_BUFFER_BYTES = 1024**2
"""Columns are read in pieces: one whole column of a large row group may not fit in memory."""


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Rows in the order of their files; `file_counts` has how many each of the files with these numbers has.

    `share` is how many they are of all rows of the table.
    """

    table: pa.Table
    file_numbers: Sequence[int]
    file_counts: Sequence[int]
    share: float

    @property
    def row_files(self) -> npt.NDArray[np.int64]:
        """The file of each row."""
        return np.repeat(np.array(self.file_numbers, np.int64), self.file_counts)

    def part(self, of: int) -> PlacedRows:
        """Returns the first one of `of` parts of the rows of each file."""
        counts = [-(-count // of) for count in self.file_counts]
        starts = np.cumsum([0, *self.file_counts[:-1]])
        slices = [self.table.slice(int(start), count) for start, count in zip(starts, counts, strict=True)]
        table = pa.concat_tables(slices)
        share = self.share * table.num_rows / max(1, self.table.num_rows)
        return PlacedRows(table, self.file_numbers, counts, share)


def placed_rows(
    io: FileIO,
    schema: Schema,
    files: Sequence[LayoutFile],
    max_files: int,
    max_bytes: int,
    is_late: Callable[[], bool],
) -> PlacedRows | None:
    """Returns as many rows as fit in so many bytes, from at most `max_files` files.

    None: there are no rows, they are larger than the first ones said, or it is late.

    Raises:
        OSError: the storage does not give a file.
        pa.ArrowException: a file is not one of Parquet, or columns of files do not fit together.
    """
    with_rows = [number for number, file in enumerate(files) if file.record_count]
    count = min(len(with_rows), max_files)
    numbers = [with_rows[place * len(with_rows) // count] for place in range(count)]
    share: float | None = None
    tables: list[pa.Table] = []
    read_bytes = 0
    for number in numbers:
        file = files[number]
        with io.new_input(file.path).open() as stream:
            parquet = pq.ParquetFile(stream, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            if share is None:
                rows = sum(files[place].record_count for place in numbers)
                share = min(1.0, max_bytes / (rows * _row_bytes(parquet)))
            table = _first_rows(parquet, schema, max(1, round(file.record_count * share)), is_late)
        read_bytes += 0 if table is None else table.nbytes
        if table is None or read_bytes > 2 * max_bytes:
            return None
        tables.append(table)
    if not tables:
        return None
    whole = pa.concat_tables(tables, promote_options="permissive")
    total = sum(file.record_count for file in files)
    counts = [table.num_rows for table in tables]
    return PlacedRows(whole, numbers, counts, min(1.0, whole.num_rows / total))


def _row_bytes(file: pq.ParquetFile) -> float:
    batch = next(file.iter_batches(_BATCH_ROWS), None)
    return max(1.0, batch.nbytes / batch.num_rows) if batch is not None and batch.num_rows else 1.0


def _first_rows(
    file: pq.ParquetFile, schema: Schema, count: int, is_late: Callable[[], bool]
) -> pa.Table | None:
    names = file_names(file.schema_arrow, {field.name: field for field in schema.fields})
    batches: list[pa.RecordBatch] = []
    left = count
    for batch in file.iter_batches(min(count, _BATCH_ROWS), columns=list(dict.fromkeys(names.values()))):
        if is_late():
            return None
        batches.append(batch.slice(0, left))
        left -= batches[-1].num_rows
        if left <= 0:
            break
    read = pa.Table.from_batches(batches, schema=None if batches else file.schema_arrow)
    return pa.table({name: read.column(found) for name, found in names.items()})
