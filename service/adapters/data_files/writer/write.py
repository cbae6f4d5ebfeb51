"""Writes rows into data files: the one function that the gateway and every executor run."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from service.adapters.data_files.layout.pieces import chunks
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.target_files import target_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import WriteResult, WriteTarget


def write_data_files(
    state: WriterState, target: WriteTarget, batches: Iterable[pa.RecordBatch], bounds: WriteBounds
) -> WriteResult:
    """Writes rows, which have the target's columns in its order, into files that no table knows of yet.

    For an upsert it writes the last row of each key, and files that delete the rows of these keys in earlier
    snapshots. Its rows may have `DELETE_MARK` as their last column: of a key whose last row is marked, only
    the delete is written. If it fails, no file is left. Without rows it writes no file.

    Raises:
        IngestInvalid: no files can be written for this target, or an upsert has too many rows.
        RecordsInvalid: a value does not fit its column.
        OSError: the storage does not accept the files.
    """
    files = target_files(state, target, bounds)
    try:
        for chunk in chunks(batches, bounds.buffered_bytes):
            files.write(chunk)
        return files.finish()
    except BaseException:
        files.delete()
        raise
