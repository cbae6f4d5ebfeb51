"""Finds a field's values in an Arrow table, also inside structs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, PrimitiveType, StructType


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """The path to a primitive field: positions from the top level down through structs."""

    field: NestedField
    kind: PrimitiveType
    positions: tuple[int, ...]

    def values(self, table: pa.Table) -> pa.Array:
        """Returns one value for each row; NULL if an enclosing struct is NULL."""
        top, *inner = self.positions
        chunked = table.column(top)
        column = chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
        array = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        for position in inner:
            array = pc.struct_field(array, [position])
        return array


def column_places(schema: Schema) -> dict[int, ColumnPlace]:
    """Returns, by id, every primitive field that has one value in each row."""
    return {place.field.field_id: place for place in _places(schema.fields, ())}


def _places(fields: Iterable[NestedField], above: tuple[int, ...]) -> Iterator[ColumnPlace]:
    for position, field in enumerate(fields):
        match field.field_type:
            case PrimitiveType() as kind:
                yield ColumnPlace(field, kind, (*above, position))
            case StructType() as struct:
                yield from _places(struct.fields, (*above, position))
