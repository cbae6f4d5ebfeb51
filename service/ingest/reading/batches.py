"""Batches of Arrow out of what strangers have sent: each is checked before anybody looks into it."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from service.errors import IngestInvalid

_ROWS = 10_000
_PART_BYTES = 4 * 1024**2
# Of each column. Without it a column of a row group is read as a whole, however large that is.
_READ_BYTES = 64 * 1024
_BATCH_BYTES = 256 * 1024**2
_END = b"\xff\xff\xff\xff\0\0\0\0"


def arrow_batches(stream: BinaryIO) -> Iterator[pa.RecordBatch]:
    """The batches of a stream; also one without rows, if there is none, for its columns.

    Raises:
        IngestInvalid: it is no stream of Arrow, ends too early, or has a batch that is too large.
    """
    with _told("an Arrow stream"):
        ended = _Ended(stream)
        reader = pa.ipc.open_stream(ended)
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        for batch in reader:
            batch.validate(full=True)
            yield from _parts(batch)
        ended.check()


def parquet_batches(stream: BinaryIO, row_groups: range | None = None) -> Iterator[pa.RecordBatch]:
    """The same of a file of Parquet, or of some of its row groups.

    Raises:
        IngestInvalid: it is none, or not all of it is there.
    """
    with _told("Parquet"), _seekable(stream) as file:
        opened = pq.ParquetFile(file, pre_buffer=False, memory_map=False, buffer_size=_READ_BYTES)
        yield pa.RecordBatch.from_pylist([], schema=opened.schema_arrow)
        groups = range(opened.metadata.num_row_groups) if row_groups is None else row_groups
        at_once = _rows_at_once(opened.metadata)
        for batch in opened.iter_batches(at_once, list(groups), use_threads=False):
            batch.validate(full=True)
            yield from _parts(batch)


@dataclass(frozen=True, slots=True)
class RowGroupSize:
    """How much a row group of Parquet says that it has, before it was unpacked or decoded."""

    row_count: int
    byte_count: int


def parquet_row_groups(stream: BinaryIO) -> list[RowGroupSize]:
    """The row groups of a file that can be sought.

    Raises:
        IngestInvalid: it is no Parquet, or not all of it is there.
    """
    with _told("Parquet"):
        metadata = pq.ParquetFile(stream, pre_buffer=False, memory_map=False).metadata
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        return [RowGroupSize(max(each.num_rows, 0), max(each.total_byte_size, 1)) for each in groups]


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, _ROWS):
        yield batch.slice(start, _ROWS)


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    row_bytes = max((each.total_byte_size // max(each.num_rows, 1) for each in groups), default=0)
    return int(min(max(_PART_BYTES // max(row_bytes, 1), 16), _ROWS))


class _Ended(io.RawIOBase):
    """A stream that was cut between two batches looks whole to its reader: only its end tells."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._last = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size > _BATCH_BYTES:
            # Arrow reads a batch at once.
            raise IngestInvalid(f"A batch has more than {_BATCH_BYTES} bytes: send the rows in smaller ones.")
        found = self._stream.read(size)
        self._last = (self._last + found[-len(_END) :])[-len(_END) :]
        return found

    def check(self) -> None:
        if self._last != _END:
            raise OSError("the stream has no end")
        if self._stream.read(1):
            raise OSError("there is something behind its end")


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """A file's end is read first: what can only be read once goes to the disk before."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file, _PART_BYTES)
        file.seek(0)
        yield file


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        reason = (str(error).splitlines() or ["no reason is known"])[0]
        raise IngestInvalid(f"The body cannot be read as {what}: {reason:.300}") from None
