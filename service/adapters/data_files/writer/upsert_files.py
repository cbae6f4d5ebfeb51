"""All files of one upsert: its rows, and the deletes of the rows that they replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from service.adapters.data_files.plan.cached_plan import cached_delete_plan, cached_plan
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.file_set import FileSet
from service.adapters.data_files.writer.key_changes import KeyChanges
from service.adapters.data_files.writer.row_keys import RowKeys
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import UpsertTooLarge
from service.model.ingest.writing import WriteResult, WriteTarget


class UpsertFiles:
    """Takes rows in the order in which they apply, and at the end writes the one of each key that wins.

    That is the last one, or by the target's order the greatest one. If it is marked (`DELETE_MARK`), only the
    delete is written.

    Within one snapshot, deletes do not apply to the snapshot's own rows, so all rows of a target must come
    here.

    Raises:
        IngestInvalid: no files can be written for this target.
    """

    def __init__(self, state: WriterState, target: WriteTarget, bounds: WriteBounds) -> None:
        self.target = target
        self._plan = cached_plan(state, replace(target, is_upsert=False))
        deletes = cached_delete_plan(state, target)
        self._keys = RowKeys(self._plan.schema, deletes)
        self._bounds = bounds
        self._buffered = KeyChanges()
        self._files = FileSet(self._plan, bounds)
        self._deletes = FileSet(deletes, bounds)

    @property
    def buffered_bytes(self) -> int:
        """The memory of the rows that are buffered until the end."""
        return self._buffered.byte_count

    @property
    def open_count(self) -> int:
        """How many files are open: none before the end."""
        return 0

    def allow_open(self, count: int) -> None:
        """Bounds the number of open files from now on."""
        self._files.open_at_most = self._deletes.open_at_most = count

    def close_oldest(self) -> None:
        """Does nothing: no file is open before the end."""

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Buffers these rows; they replace buffered rows with the same keys.

        Raises:
            RecordsInvalid: a value does not fit its column.
            UpsertTooLarge: the rows of all keys need more memory than allowed.
        """
        self._buffered = self._buffered.then(batches, self._plan.shape, self._keys)
        check_buffered(self.buffered_bytes, self._bounds)

    def finish(self) -> WriteResult:
        """Writes the buffered rows, and returns all files."""
        rows, deleted = self._buffered.rows, self._buffered.deleted
        if rows is not None:
            self._files.write(rows)
        # Closed before the next ones are opened.
        files = self._files.close()
        keys = [] if rows is None else [self._keys.deletes(rows)]
        keys += [] if deleted is None else [deleted]
        if keys:
            self._deletes.write(pa.concat_tables(keys).combine_chunks())
        deletes = self._deletes.close()
        return WriteResult(
            self.target,
            tuple(file.content for file in files),
            tuple(delete.content for delete in deletes),
            sum(file.record_count for file in files),
            sum(file.byte_count for file in files),
            0 if deleted is None else deleted.num_rows,
        )

    def delete(self) -> None:
        """Deletes every file, complete or not."""
        self._files.delete()
        self._deletes.delete()


def check_buffered(buffered_bytes: int, bounds: WriteBounds) -> None:
    """Checks that rows of this many bytes may be buffered.

    Raises:
        UpsertTooLarge: they are too many.
    """
    if buffered_bytes > bounds.upsert_bytes:
        raise UpsertTooLarge(
            f"The rows of upserts, one for each key, may take {bounds.upsert_bytes} bytes of memory in a "
            "request: send them in several requests, one after the other."
        )
