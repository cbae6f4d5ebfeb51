"""Writes files of a round again without some of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.table import Table

from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.layout.file_schema import file_schema
from service.adapters.data_files.layout.pieces import chunks
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.uncommitted_rows import written_batches
from service.adapters.data_files.writer.file_set import FileSet, delete_files
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import CommittableUnreadable, IngestInvalid
from service.model.ingest.writing import WriteResult, WriteTarget

# Rounds of several tables are committed at once.
BOUNDS = WriteBounds(buffered_bytes=16 * 1024**2)


def without_places(
    table: Table, result: WriteResult, rows: Mapping[str, pa.Array], keys: Mapping[str, pa.Array]
) -> WriteResult:
    """Returns the result without these places in its data files and delete files.

    Files that have such places are written again without them, the others stay. `delete_count` stays as it
    was, because a lost key may be that of a row.

    Raises:
        WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
        OSError: the storage does not accept the files.
    """
    if not rows and not keys:
        return result
    deletes = _written_deletes(table, result.target, keys) if keys else ()
    try:
        written = _written_rows(table, result.target, rows) if rows else ()
    except BaseException:
        _discard(table, deletes)
        raise
    return replace(
        result,
        data_files=(*(file for file in result.data_files if file not in rows), *written),
        delete_files=(*(file for file in result.delete_files if file not in keys), *deletes),
        record_count=result.record_count - sum(len(places) for places in rows.values()),
    )


def _written_rows(table: Table, target: WriteTarget, lost: Mapping[str, pa.Array]) -> tuple[str, ...]:
    state, now = writer_state(table), target_now(table, target)
    wanted = file_schema(state.schema, now.write_schema_column_ids)
    remaining = remaining_rows(state, wanted, ".".join(table.name()), lost)
    try:
        return write_data_files(state, now, remaining, BOUNDS).data_files
    except IngestInvalid as error:
        raise CommittableUnreadable(error.detail, list(lost)) from error


def _written_deletes(table: Table, target: WriteTarget, lost: Mapping[str, pa.Array]) -> tuple[str, ...]:
    state = writer_state(table)
    try:
        plan = FilePlan.of_deletes(state, target)
        files = FileSet(plan, BOUNDS)
        try:
            remaining = remaining_rows(state, plan.schema, ".".join(table.name()), lost)
            for chunk in chunks(remaining, BOUNDS.buffered_bytes):
                files.write(plan.shape.table(chunk))
            return tuple(file.content for file in files.close())
        except BaseException:
            files.delete()
            raise
    except IngestInvalid as error:
        raise CommittableUnreadable(error.detail, list(lost)) from error


def _discard(table: Table, files: Sequence[str]) -> None:
    delete_files(table.io, locations_of(files))


def target_now(table: Table, target: WriteTarget) -> WriteTarget:
    """Returns the same columns under the table's current schema, as rows without deletes."""
    column_ids = target.write_schema_column_ids
    if column_ids is None and target.schema_id != table.schema().schema_id:
        column_ids = tuple(field.field_id for field in table.schemas()[target.schema_id].fields)
    return replace(
        target,
        schema_id=table.schema().schema_id,
        is_upsert=False,
        equality_field_ids=(),
        write_schema_column_ids=column_ids,
    )


def remaining_rows(
    state: WriterState, wanted: Schema, name: str, lost: Mapping[str, pa.Array]
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of these files, by their descriptions, that are not at the given places.

    Raises:
        WrittenFileMissing, CommittableUnreadable: a file is at fault.
        StorageDown: the storage does not return it.
    """
    for file, positions in lost.items():
        start = 0
        for batch in written_batches(state, wanted, [file], name):
            numbers = pa.array(range(start, start + batch.num_rows), pa.int64())
            rest = batch.filter(pc.invert(pc.is_in(numbers, value_set=positions)))
            if rest.num_rows:
                yield rest
            start += batch.num_rows
