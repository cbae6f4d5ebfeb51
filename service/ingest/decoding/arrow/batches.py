"""Reads batches of Arrow from untrusted input; each is checked before its values are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from service.ingest.decoding.arrow.arrow_messages import ArrowMessages
from service.ingest.decoding.arrow.check_batch import check_batch
from service.ingest.decoding.parquet.int96_moments import Int96Batch, int96_moments
from service.ingest.decoding.parquet.int96_zone import int96_paths, marked_int96
from service.ingest.decoding.parquet.parquet_plan import ParquetPlan, parquet_plan
from service.ingest.decoding.streams.read_bounds import ReadBounds, Room
from service.ingest.decoding.streams.reported_failures import reported
from service.ingest.decoding.values.known_columns import check_names
from service.ingest.decoding.values.unfolded_rows import unfolded_parts

# For each column. Without it, a whole column of a row group is read at once, however large it is.
_READ_BYTES = 64 * 1024


def arrow_batches(stream: BinaryIO, bounds: ReadBounds) -> Iterator[pa.RecordBatch]:
    """Yields the batches of a stream, in parts; the first one has no rows, and shows the columns.

    Raises:
        IngestInvalid: it is not a stream of Arrow, ends too early, or expands beyond the bounds.
        StorageDown: its storage fails.
    """
    room = Room(bounds)
    with reported("an Arrow stream"):
        messages = ArrowMessages(stream, room)
        reader = pa.ipc.open_stream(messages)
        yield _no_rows(reader.schema)
        for batch in reader:
            check_batch(batch)
            yield from unfolded_parts(batch, room)
        messages.check_ended()


def parquet_batches(
    file: BinaryIO, bounds: ReadBounds, row_groups: range | None = None
) -> Iterator[pa.RecordBatch]:
    """Yields the batches of a seekable Parquet file, or of some of its row groups, in the same way.

    Raises:
        IngestInvalid: it is not Parquet, is incomplete, or expands beyond the bounds.
        StorageDown: its storage fails.
    """
    room = Room(bounds)
    with reported("Parquet"):
        metadata = pq.read_metadata(file)
        groups = range(metadata.num_row_groups) if row_groups is None else row_groups
        # Invalid names are rejected before the pages of all columns are examined, which takes time.
        yield _no_rows(metadata.schema.to_arrow_schema())
        plan = parquet_plan(metadata, groups, file, room)
        opened = _opened(file, metadata, plan, "us")
        for batch in _batches(opened, file, plan, list(groups)):
            yield from unfolded_parts(batch, room)


def _opened(file: BinaryIO, metadata: pq.FileMetaData, plan: ParquetPlan, int96_unit: str) -> pq.ParquetFile:
    file.seek(0)
    return pq.ParquetFile(
        file,
        metadata=metadata,
        read_dictionary=list(plan.dictionaries),
        pre_buffer=False,
        memory_map=False,
        buffer_size=_READ_BYTES,
        coerce_int96_timestamp_unit=int96_unit,
    )


def _batches(
    opened: pq.ParquetFile, file: BinaryIO, plan: ParquetPlan, groups: list[int]
) -> Iterator[pa.RecordBatch]:
    own = _checked(opened.iter_batches(plan.rows_at_once, groups, use_threads=False))
    leaves = opened.metadata.schema
    if not any(leaves.column(index).physical_type == "INT96" for index in range(len(leaves))):
        yield from own
        return
    check_names(opened.schema_arrow.names)
    fine, coarse = (_opened(file, opened.metadata, plan, unit) for unit in ("ns", "ms"))
    paths = int96_paths(opened.schema_arrow, fine.schema_arrow)
    names = list(paths)
    others = [
        _Followed(_checked(batches.iter_batches(plan.rows_at_once, groups, names, use_threads=False)), names)
        for batches in (fine, coarse)
    ]
    for batch in own:
        moments = int96_moments(Int96Batch(batch, *(other.rows(batch.num_rows) for other in others)))
        yield from (marked_int96(moment, paths) for moment in moments)


def _checked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        check_batch(batch)
        yield batch


class _Followed:
    """Some columns of batches, read in parts of a given number of rows."""

    def __init__(self, batches: Iterator[pa.RecordBatch], names: list[str]) -> None:
        self._batches = batches
        self._names = names
        self._rest: pa.RecordBatch | None = None

    def rows(self, count: int) -> pa.RecordBatch:
        parts: list[pa.RecordBatch] = []
        while count:
            rest = next(self._batches).select(self._names) if self._rest is None else self._rest
            parts.append(rest.slice(0, count))
            self._rest = rest.slice(count) if rest.num_rows > count else None
            count -= parts[-1].num_rows
        return parts[0] if len(parts) == 1 else pa.concat_batches(parts)


@dataclass(frozen=True, slots=True)
class RowGroupSize:
    """The size of a Parquet row group as its metadata states it, before it is decompressed or decoded."""

    row_count: int
    byte_count: int


def parquet_row_groups(stream: BinaryIO) -> list[RowGroupSize]:
    """Returns the sizes of the row groups of a seekable file.

    Raises:
        IngestInvalid: it is not Parquet, or incomplete.
        StorageDown: its storage fails.
    """
    with reported("Parquet"):
        metadata = pq.read_metadata(stream)
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        return [RowGroupSize(max(group.num_rows, 0), max(group.total_byte_size, 1)) for group in groups]


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0)] * len(schema.names), names=schema.names)
