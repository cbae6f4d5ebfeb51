"""Arrow messages in files: how rows get there, and back."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO

import pyarrow as pa
import structlog

from service.errors.query_errors import NoRoomForResult, QueryFailed, ResultExpired
from service.model.query.written_rows import Batch, Part, WrittenRows

log = structlog.get_logger(__name__)

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# The last: the folder is on another machine, which has deleted the file.
GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESTALE}
ROWS_FILE = "rows.part"


def cuts(rows: pa.Table, chunk_rows: int, chunk_bytes: int) -> list[tuple[int, int]]:
    """Returns where each chunk begins and ends; one chunk without rows, if there are none.

    >>> cuts(pa.table({"n": [1, 2, 3]}), chunk_rows=2, chunk_bytes=100)
    [(0, 2), (2, 3)]
    """
    count = rows.num_rows
    by_bytes = count * chunk_bytes // max(rows.nbytes, 1)
    step = max(1, min(chunk_rows, by_bytes))
    return list(pairwise([*range(0, count, step), count])) or [(0, 0)]


def write_rows(folder: Path, rows: pa.Table, at: Iterable[tuple[int, int]]) -> WrittenRows:
    """Writes each piece of the rows as a message into one file of the folder.

    Raises:
        OSError: it cannot be written.
    """
    with (folder / ROWS_FILE).open("wb") as file:
        return write_messages(file, rows, at)


def write_messages(file: IO[bytes], rows: pa.Table, at: Iterable[tuple[int, int]]) -> WrittenRows:
    """Writes each piece of the rows as a message into a file, which is to be called `ROWS_FILE`.

    Raises:
        OSError: it cannot be written.
    """
    batches, offset = [], 0
    for start, end in at:
        batch = _batch(rows.slice(start, end - start))
        length = file.write(batch.serialize())
        batches.append(Batch(offset, length, batch.num_rows, batch.nbytes))
        offset += length
    return WrittenRows(rows.schema, (Part(tuple(batches), ROWS_FILE),))


def with_files(folder: Path, rows: WrittenRows) -> WrittenRows:
    """Writes the parts that have no file yet, and deletes the files that are of no part.

    Raises:
        OSError: one cannot be written.
    """
    parts = []
    for number, part in enumerate(rows.parts):
        if part.file is None:
            name = f"inline-{number:05d}.part"
            (folder / name).write_bytes(part.inline)
            parts.append(Part(part.batches, name))
        else:
            parts.append(part)
    written = WrittenRows(rows.schema, tuple(parts))
    delete_others(folder, written)
    return written


def delete_others(folder: Path, rows: WrittenRows) -> None:
    """Deletes the files that have none of these rows.

    They are those of an earlier run, of tasks that ran twice, or of rows beyond the result's limits.

    Raises:
        OSError: one cannot be deleted.
    """
    names = {part.file for part in rows.parts}
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink(missing_ok=True)


def read_batch(path: Path, batch: Batch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns the rows of a batch, in memory of their own.

    Raises:
        ResultExpired: the file is gone.
    """
    with as_expired(), path.open("rb") as file:
        message = os.pread(file.fileno(), batch.length, batch.offset)
    if len(message) < batch.length:
        raise ResultExpired
    return pa.ipc.read_record_batch(pa.py_buffer(message), schema)


@contextmanager
def as_expired() -> Iterator[None]:
    """Turns the absence of a file into ResultExpired, and other errors of the disk into QueryFailed."""
    try:
        yield
    except OSError as error:
        if error.errno in GONE:
            raise ResultExpired from error
        log.warning("result_not_readable", errno=error.errno)
        raise QueryFailed("The result cannot be read now: its folder does not answer.") from error


@contextmanager
def as_not_kept(byte_count: int | None = None) -> Iterator[None]:
    """Turns errors of the disk into those of a result that cannot be kept."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            log.warning("no_room_for_result", bytes=byte_count)
            raise NoRoomForResult from error
        raise QueryFailed("The result could not be kept: its directory cannot be written.") from error


def _batch(rows: pa.Table) -> pa.RecordBatch:
    if rows.num_rows == 0:
        empty = [pa.array([], column.type) for column in rows.columns]
        return pa.RecordBatch.from_arrays(empty, schema=rows.schema)
    return rows.combine_chunks().to_batches()[0]
