"""Keys of an upsert's rows: the last record of each key, and the key's deletes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema

from service.adapters.data_files.layout.partitions import grouped
from service.adapters.data_files.plan.file_plan import FilePlan


@dataclass(frozen=True, slots=True)
class RowKeys:
    """Keys of rows with the schema `written`; `plan` is that of the files with equality deletes.

    NULL is a value like any other, as in equality deletes: two rows without a value have the same key.
    """

    written: Schema
    plan: FilePlan

    def deletes(self, rows: pa.Table) -> pa.Table:
        """Returns the rows' keys, as files with equality deletes hold them."""
        places = {field.field_id: place for place, field in enumerate(self.written.fields)}
        columns = [rows.column(places[field.field_id]) for field in self.plan.schema.fields]
        return pa.Table.from_arrays(columns, schema=self.plan.shape.filed)

    def last(self, rows: pa.Table) -> pa.Table:
        """Returns the last row of each key, in their original order."""
        if rows.num_rows < 2:
            return rows
        found = last_of_each(self.deletes(rows))
        return rows if len(found) == rows.num_rows else rows.take(found).combine_chunks()


def last_of_each(keys: pa.Table) -> pa.Array:
    """Returns the position of the last occurrence of each key, in ascending order."""
    order, ends = grouped([_values(column) for column in keys.columns])
    last = order.take(pa.array([end - 1 for end in ends], pa.int64()))
    return last.take(pc.sort_indices(last))


def _values(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    array = combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
    return array.storage if isinstance(array, pa.ExtensionArray) else array
