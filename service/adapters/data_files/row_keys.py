"""What tells an upsert's rows apart: which row of a key is the last, and what its key deletes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StructType

from service.adapters.data_files.arrow_shape import retyped
from service.adapters.data_files.file_plan import FilePlan
from service.adapters.data_files.partitions import grouped
from service.errors import IngestInvalid


@dataclass(frozen=True, slots=True)
class RowKeys:
    """Keys of rows that are written as `written` says; `plan` is that of the files with equality deletes.

    NULL is a value as any other, as in equality deletes themselves: two rows without a value have the same
    key. A struct that is NULL is not the same as one whose fields are.
    """

    written: Schema
    plan: FilePlan

    def deletes(self, rows: pa.Table) -> pa.Table:
        """The rows' keys, in the types of the files with equality deletes."""
        columns = _below(self.written.fields, self.plan.schema.fields, list(rows.columns))
        filed = self.plan.shape.filed
        typed = [retyped(column, field.type) for column, field in zip(columns, filed, strict=True)]
        return pa.Table.from_arrays(typed, schema=filed)

    def last(self, rows: pa.Table) -> pa.Table:
        """The rows of which no later one has the key, in the order that they have."""
        if rows.num_rows < 2:
            return rows
        keys = [part for column in self.deletes(rows).columns for part in _parts(_chunk(column))]
        order, ends = grouped(keys)
        if len(ends) == rows.num_rows:
            return rows
        last = order.take(pa.array([end - 1 for end in ends], pa.int64()))
        return rows.take(last.take(pc.sort_indices(last))).combine_chunks()

    def last_of_all(self, tables: Iterable[pa.Table], max_bytes: int) -> pa.Table | None:
        """The same over all of these tables; None without any.

        Raises:
            IngestInvalid: they need more memory than that.
        """
        kept: pa.Table | None = None
        for each in tables:
            kept = self.last(each if kept is None else pa.concat_tables([kept, each]).combine_chunks())
            if kept.nbytes > max_bytes:
                raise IngestInvalid(
                    f"The rows of an upsert, one for each key, may take {max_bytes} bytes of memory: "
                    "send them in several requests, one after the other."
                )
        return kept


def _below(
    written: Iterable[NestedField], wanted: Iterable[NestedField], columns: list[pa.Array]
) -> Iterator[pa.Array]:
    """The wanted fields' values, of columns that are as `written` says; of structs what is wanted."""
    places = {field.field_id: (place, field) for place, field in enumerate(written)}
    for field in wanted:
        place, found = places[field.field_id]
        column = _chunk(columns[place])
        if isinstance(field.field_type, StructType) and isinstance(found.field_type, StructType):
            yield _struct(found.field_type, field.field_type, column)
        else:
            yield column


def _struct(written: StructType, wanted: StructType, column: pa.Array) -> pa.Array:
    fields = [pc.struct_field(column, [index]) for index in range(column.type.num_fields)]
    parts = list(_below(written.fields, wanted.fields, fields))
    names = [each.name for each in wanted.fields]
    return pa.StructArray.from_arrays(parts, names, mask=pc.is_null(column))


def _parts(column: pa.Array) -> Iterator[pa.Array]:
    if not pa.types.is_struct(column.type):
        yield column.storage if isinstance(column, pa.ExtensionArray) else column
        return
    yield pc.is_null(column)
    for index in range(column.type.num_fields):
        yield from _parts(pc.struct_field(column, [index]))


def _chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
