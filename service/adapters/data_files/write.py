"""Rows into data files: the one function that the gateway and every executor run."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from service.adapters.data_files.file_set import FileSet
from service.adapters.data_files.kept_plan import kept_plan
from service.adapters.data_files.pieces import chunks
from service.adapters.data_files.write_bounds import WriteBounds
from service.adapters.data_files.writer_state import WriterState
from service.model.writing import WriteResult, WriteTarget


def write_data_files(
    state: WriterState, target: WriteTarget, batches: Iterable[pa.RecordBatch], bounds: WriteBounds
) -> WriteResult:
    """Puts rows, which have the target's columns in its order, into files that no table knows of yet.

    Either all files are there in the end, or none. Without rows there is no file.

    Raises:
        IngestInvalid: no files can be written for this target.
        RecordsInvalid: a value does not fit its column.
        OSError: the storage does not take the files.
    """
    plan = kept_plan(state, target)
    files = FileSet(plan, bounds.open_files)
    try:
        for each in chunks(batches, bounds.buffered_bytes):
            files.write(plan.shape.table(each))
        written = files.close()
    except BaseException:
        files.delete()
        raise
    return WriteResult(
        target,
        tuple(each.content for each in written),
        # Upserts put the files of their equality deletes here.
        (),
        sum(each.record_count for each in written),
        sum(each.byte_count for each in written),
    )
