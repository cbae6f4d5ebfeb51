"""Makes a round committable as one snapshot: none of its rows is replaced by another row of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyiceberg.io import FileIO
from pyiceberg.table import Table

from service.adapters.commits.superseding.rewritten_files import BOUNDS, without_places
from service.adapters.commits.superseding.superseded_rows import superseded_rows
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.disk.synced_files import Sync
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Committable, WriteResult


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
    superseded = superseded_rows(table, results, BOUNDS.buffered_bytes)
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
    return without_places(table, result, {path: superseded[path] for path in touched}, {})
