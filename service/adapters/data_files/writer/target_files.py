"""The files of one target while they are being written."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from service.adapters.data_files.plan.cached_plan import cached_plan
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.file_set import FileSet
from service.adapters.data_files.writer.upsert_files import UpsertFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import WriteResult, WriteTarget


def target_files(state: WriterState, target: WriteTarget, bounds: WriteBounds) -> TargetFiles | UpsertFiles:
    """Returns the writer for the rows of this target.

    Raises:
        IngestInvalid: no files can be written for it.
    """
    return (UpsertFiles if target.is_upsert else TargetFiles)(state, target, bounds)


class TargetFiles:
    """Accepts rows until it is finished, or its files are deleted.

    Raises:
        IngestInvalid: no files can be written for this target.
    """

    def __init__(self, state: WriterState, target: WriteTarget, bounds: WriteBounds) -> None:
        self.target = target
        self._plan = cached_plan(state, target)
        self._files = FileSet(self._plan, bounds)

    @property
    def open_count(self) -> int:
        """How many files are open."""
        return self._files.open_count

    def allow_open(self, count: int) -> None:
        """Bounds the number of open files from now on."""
        self._files.open_at_most = count

    def close_oldest(self) -> None:
        """Completes the least recently written open file."""
        self._files.close_oldest()

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Writes the rows into files of their partitions; if the target is sorted, these rows are sorted.

        Raises:
            RecordsInvalid: a value does not fit its column.
            OSError: the storage does not accept the files.
        """
        self._files.write(self._plan.shape.nearest(batches[0].schema).table(batches))

    def finish(self) -> WriteResult:
        """Completes the open files, and returns all files."""
        written = self._files.close()
        return WriteResult(
            self.target,
            tuple(file.content for file in written),
            (),
            sum(file.record_count for file in written),
            sum(file.byte_count for file in written),
        )

    def delete(self) -> None:
        """Deletes every file, complete or not."""
        self._files.delete()
