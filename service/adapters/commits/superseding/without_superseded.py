"""Makes a round committable as one snapshot: none of its rows is replaced by another row of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import FileIO
from pyiceberg.table import Table

from service.adapters.commits.superseding.superseded_rows import superseded_rows
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.layout.file_schema import file_schema
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.uncommitted_rows import written_batches
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import Sync
from service.errors.ingest_errors import CommittableUnreadable, IngestInvalid
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Committable, WriteResult, WriteTarget

# Rounds of several tables are committed at once.
_BOUNDS = WriteBounds(buffered_bytes=16 * 1024**2)


@dataclass(frozen=True, slots=True)
class WithoutSuperseded:
    """The round to commit. `written` are files written only for it; they replace `left_out`."""

    committable: Committable
    written: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def discard(self, io: FileIO) -> None:
        """Deletes the files written for a round that is not committed."""
        delete_files(io, locations_of(self.written))


def without_superseded(table: Table, committable: Committable, sync: Sync) -> WithoutSuperseded:
    """Returns the round without the rows that a later upsert of it replaces.

    The table must accept its files. Iceberg's equality deletes apply only to older snapshots. So a data file
    with such rows is written again without them, and left out if no row remains. Deletes stay, even those of
    an upsert without remaining rows: they apply to rows that the table already has.

    Raises:
        WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
        StorageDown: the storage does not return the files, or does not accept them.
    """
    results = committable.write_results
    if not any(result.target.is_upsert for result in results[1:]):
        return WithoutSuperseded(committable)
    superseded = superseded_rows(table, results, _BOUNDS.buffered_bytes)
    made: list[WriteResult] = []
    try:
        for result in results:
            made.append(_without(table, result, superseded))
        written = _other_files(made, results)
        sync(locations_of(written))
    except BaseException as error:
        delete_files(table.io, locations_of(_other_files(made, results)))
        if isinstance(error, OSError):
            raise StorageDown(f"The storage of {committable.key.table} does not accept files.") from error
        raise
    left_out = _other_files(results, made)
    return WithoutSuperseded(replace(committable, write_results=tuple(made)), written, left_out)


def _other_files(results: Sequence[WriteResult], than: Sequence[WriteResult]) -> tuple[str, ...]:
    known = {file for result in than for file in result.data_files}
    return tuple(file for result in results for file in result.data_files if file not in known)


def _without(table: Table, result: WriteResult, superseded: Mapping[str, pa.Int64Array]) -> WriteResult:
    touched = [file for file in result.data_files if file in superseded]
    if not touched:
        return result
    state, name = writer_state(table), ".".join(table.name())
    target = _target_now(table, result.target)
    rows = _remaining_rows(state, target, name, {path: superseded[path] for path in touched})
    try:
        written = write_data_files(state, target, rows, _BOUNDS)
    except IngestInvalid as error:
        raise CommittableUnreadable(error.detail, touched) from error
    return replace(
        result,
        data_files=(*(file for file in result.data_files if file not in superseded), *written.data_files),
        record_count=result.record_count - sum(len(superseded[path]) for path in touched),
    )


def _target_now(table: Table, target: WriteTarget) -> WriteTarget:
    """The same columns under the table's current schema, as rows without deletes."""
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


def _remaining_rows(
    state: WriterState, target: WriteTarget, name: str, superseded: Mapping[str, pa.Int64Array]
) -> Iterator[pa.RecordBatch]:
    wanted = file_schema(state.schema, target.write_schema_column_ids)
    for file, positions in superseded.items():
        start = 0
        for batch in written_batches(state, wanted, [file], name):
            numbers = pa.array(range(start, start + batch.num_rows), pa.int64())
            rest = batch.filter(pc.invert(pc.is_in(numbers, value_set=positions)))
            if rest.num_rows:
                yield rest
            start += batch.num_rows
