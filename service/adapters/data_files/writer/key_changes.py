"""The effect of an upsert's records so far: the rows to write, and the keys that are only deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from service.adapters.data_files.layout.arrow_shape import ArrowShape
from service.adapters.data_files.writer.row_keys import RowKeys
from service.model.ingest.record_deletes import DELETE_MARK


@dataclass(frozen=True, slots=True)
class KeyChanges:
    """Rows in the types of data files, and keys in those of delete files. No key is there twice."""

    rows: pa.Table | None = None
    deleted: pa.Table | None = None

    @property
    def byte_count(self) -> int:
        """The memory that both take."""
        return sum(int(table.nbytes) for table in (self.rows, self.deleted) if table is not None)

    def then(self, batches: Sequence[pa.RecordBatch], shape: ArrowShape, keys: RowKeys) -> KeyChanges:
        """Returns the effect of these and of further records, any of which may be marked as deletes.

        Raises:
            RecordsInvalid: a value does not fit its column.
        """
        if self.deleted is None and not any(is_marked(batch) for batch in batches):
            rows = shape.table(batches)
            both = rows if self.rows is None else pa.concat_tables([self.rows, rows]).combine_chunks()
            return KeyChanges(keys.winning(both))
        return self._merged(batches, shape, keys)

    def _merged(self, batches: Sequence[pa.RecordBatch], shape: ArrowShape, keys: RowKeys) -> KeyChanges:
        marks = pa.concat_arrays([_marks(batch) for batch in batches])
        upserts, deletes = list(_rows(batches)), list(_deletes(batches, keys))
        rows = _joined([self.rows, shape.table(upserts) if upserts else None])
        deleted = _joined([self.deleted, keys.plan.shape.table(deletes) if deletes else None])
        row_count = 0 if rows is None else rows.num_rows
        # In any order, as their keys differ, those from before; then the new ones, in their order.
        order = pa.concat_arrays(
            [
                _range(0, 0 if self.rows is None else self.rows.num_rows),
                _range(row_count, row_count + (0 if self.deleted is None else self.deleted.num_rows)),
                self._places(marks, row_count),
            ]
        )
        all_keys = _joined([None if rows is None else keys.deletes(rows), deleted])
        if all_keys is None:
            return self
        last = order.take(keys.winners(all_keys.take(order)))
        return KeyChanges(
            None if rows is None else _taken(rows, last.filter(pc.less(last, row_count))),
            None
            if deleted is None
            else _taken(deleted, pc.subtract(last.filter(pc.greater_equal(last, row_count)), row_count)),
        )

    def _places(self, marks: pa.BooleanArray, row_count: int) -> pa.Array:
        """Returns the place of each new record among all rows, followed by all deleted keys."""
        is_delete = marks.cast(pa.int64())
        deletes_so_far = pc.cumulative_sum(is_delete)
        rows_so_far = pc.cumulative_sum(pc.subtract(1, is_delete))
        known_rows = 0 if self.rows is None else self.rows.num_rows
        known_deletes = row_count + (0 if self.deleted is None else self.deleted.num_rows)
        return pc.if_else(
            marks,
            pc.add(deletes_so_far, known_deletes - 1),
            pc.add(rows_so_far, known_rows - 1),
        )


def is_marked(batch: pa.RecordBatch) -> bool:
    """Returns whether the rows may be marked as deletes."""
    return bool(batch.schema.names[-1:] == [DELETE_MARK])


def _marks(batch: pa.RecordBatch) -> pa.BooleanArray:
    if is_marked(batch):
        return batch.column(batch.num_columns - 1)
    return pa.repeat(pa.scalar(False), batch.num_rows)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if is_marked(batch):
            found = batch.filter(pc.invert(_marks(batch)))
            if found.num_rows:
                yield found.select(range(batch.num_columns - 1))
        elif batch.num_rows:
            yield batch


def _deletes(batches: Iterable[pa.RecordBatch], keys: RowKeys) -> Iterator[pa.RecordBatch]:
    names = [field.name for field in keys.plan.schema.fields]
    for batch in batches:
        if is_marked(batch):
            found = batch.filter(_marks(batch)).select(names)
            if found.num_rows:
                yield found


def _joined(tables: Iterable[pa.Table | None]) -> pa.Table | None:
    found = [table for table in tables if table is not None]
    return pa.concat_tables(found).combine_chunks() if found else None


def _range(start: int, end: int) -> pa.Array:
    return pa.array(range(start, end), pa.int64())


def _taken(table: pa.Table, places: pa.Array) -> pa.Table | None:
    return table.take(places).combine_chunks() if len(places) else None
