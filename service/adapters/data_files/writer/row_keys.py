"""Keys of an upsert's rows: the record of each key that wins, and the key's deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema

from service.adapters.data_files.layout.partitions import grouped
from service.adapters.data_files.plan.file_plan import FilePlan


@dataclass(frozen=True, slots=True)
class RowKeys:
    """Keys of rows with the schema `written`; `plan` is that of the files with equality deletes.

    NULL is a value like any other, as in equality deletes: two rows without a value have the same key. If the
    records have an order, it is the column behind the keys.
    """

    written: Schema
    plan: FilePlan

    def deletes(self, rows: pa.Table) -> pa.Table:
        """Returns the rows' keys, and their order, as files with equality deletes hold them."""
        places = {field.field_id: place for place, field in enumerate(self.written.fields)}
        columns = [rows.column(places[field.field_id]) for field in self.plan.schema.fields]
        return pa.Table.from_arrays(columns, schema=self.plan.shape.filed)

    def winning(self, rows: pa.Table) -> pa.Table:
        """Returns the row of each key that wins, in their original order."""
        if rows.num_rows < 2:
            return rows
        found = self.winners(self.deletes(rows))
        return rows if len(found) == rows.num_rows else rows.take(found).combine_chunks()

    def winners(self, keys: pa.Table) -> pa.Array:
        """Returns the position of each key's greatest order, of several the last one, in ascending order.

        Without an order, it is the position of the key's last occurrence.
        """
        columns = [_values(column) for column in keys.columns]
        key_count = len(self.plan.equality_field_ids)
        ranks = ascending_ranks(columns[key_count]) if key_count < len(columns) else None
        return last_of_each(columns[:key_count], ranks)


def last_of_each(keys: Sequence[pa.Array], ranks: pa.Array | None = None) -> pa.Array:
    """Returns the position of the last occurrence of each key, in ascending order.

    With `ranks`, it is the last one among those of the greatest rank.
    """
    by_rank = None if ranks is None else pc.sort_indices(ranks)
    order, ends = grouped(keys if by_rank is None else [column.take(by_rank) for column in keys])
    last = order.take(pa.array([end - 1 for end in ends], pa.int64()))
    if by_rank is not None:
        last = by_rank.take(last)
    return last.take(pc.sort_indices(last))


def ascending_ranks(values: pa.Array) -> pa.Array:
    """Returns a number for each value, in the order of the values, equal for equal ones; 0 for NULL.

    >>> ascending_ranks(pa.array([7, None, 3, 7])).to_pylist()
    [2, 0, 1, 2]
    """
    ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense").cast(pa.int64())
    return pc.if_else(pc.is_null(values), pa.scalar(0, pa.int64()), ranks)


def _values(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    array = combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
    return array.storage if isinstance(array, pa.ExtensionArray) else array
