"""Rows into data files: the one function that the gateway and every executor run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from service.adapters.data_files.file_plan import FilePlan
from service.adapters.data_files.file_set import FileSet
from service.adapters.data_files.pieces import chunks
from service.adapters.data_files.upsert_files import UpsertFiles
from service.adapters.data_files.write_bounds import WriteBounds
from service.adapters.data_files.writer_state import WriterState
from service.model.writing import WriteResult, WriteTarget


def write_data_files(
    state: WriterState, target: WriteTarget, batches: Iterable[pa.RecordBatch], bounds: WriteBounds
) -> WriteResult:
    """Puts rows, which have the target's columns in its order, into files that no table knows of yet.

    Of an upsert, the last row of each key is written, with files that delete what earlier snapshots have of
    these keys. Either all files are there in the end, or none. Without rows there is no file.

    Raises:
        IngestInvalid: no files can be written for this target, or an upsert has too many rows for one.
        RecordsInvalid: a value does not fit its column.
        OSError: the storage does not take the files.
    """
    if target.is_upsert:
        upsert = UpsertFiles(state, target, bounds)
        with _all_or_none(upsert):
            for each in chunks(batches, bounds.buffered_bytes):
                upsert.write(upsert.plan.shape.table(each))
            return upsert.close()
    plan = FilePlan.of(state, target)
    files = FileSet(plan, bounds.open_files)
    with _all_or_none(files):
        for each in chunks(batches, bounds.buffered_bytes):
            files.write(plan.shape.table(each))
        written = files.close()
    return WriteResult(
        target,
        tuple(each.content for each in written),
        (),
        sum(each.record_count for each in written),
        sum(each.byte_count for each in written),
    )


@contextmanager
def _all_or_none(files: FileSet | UpsertFiles) -> Iterator[None]:
    try:
        yield
    except BaseException:
        files.delete()
        raise
