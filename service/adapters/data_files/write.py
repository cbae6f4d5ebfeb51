"""Rows into data files: the one function that the gateway and every executor run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from service.adapters.data_files.file_plan import FilePlan
from service.adapters.data_files.file_set import FileSet
from service.adapters.data_files.open_file import WrittenFile
from service.adapters.data_files.pieces import chunks
from service.adapters.data_files.row_keys import RowKeys
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
    plan = FilePlan.of(state, target)
    rows = (plan.shape.table(each) for each in chunks(batches, bounds.buffered_bytes))
    if target.is_upsert:
        keys = RowKeys(plan.schema, FilePlan.of_deletes(state, target))
        return _upserted(target, plan, keys, rows, bounds)
    files = FileSet(plan, bounds.open_files)
    with _all_or_none(files):
        for each in rows:
            files.write(each)
        return _result(target, files.close(), [])


def _upserted(
    target: WriteTarget, plan: FilePlan, keys: RowKeys, rows: Iterable[pa.Table], bounds: WriteBounds
) -> WriteResult:
    kept = keys.last_of_all(rows, bounds.upsert_bytes)
    if kept is None:
        return _result(target, [], [])
    files, deletes = FileSet(plan, bounds.open_files), FileSet(keys.plan, bounds.open_files)
    with _all_or_none(files, deletes):
        files.write(kept)
        deletes.write(keys.deletes(kept))
        return _result(target, files.close(), deletes.close())


@contextmanager
def _all_or_none(*file_sets: FileSet) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for each in file_sets:
            each.delete()
        raise


def _result(target: WriteTarget, files: Sequence[WrittenFile], deletes: Sequence[WrittenFile]) -> WriteResult:
    return WriteResult(
        target,
        tuple(each.content for each in files),
        tuple(each.content for each in deletes),
        sum(each.record_count for each in files),
        sum(each.byte_count for each in files),
    )
