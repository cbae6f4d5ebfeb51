"""Finding a field's values in a table of Arrow, also inside structs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, PrimitiveType, StructType


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """Where a primitive field lies: positions from the top level down through structs."""

    field: NestedField
    kind: PrimitiveType
    positions: tuple[int, ...]

    def values(self, table: pa.Table) -> pa.Array:
        """One value for each row; NULL where a struct around it is."""
        top, *inner = self.positions
        chunked = table.column(top)
        column = chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
        array = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        for position in inner:
            array = pc.struct_field(array, [position])
        return array


def column_places(schema: Schema) -> dict[int, ColumnPlace]:
    """Every primitive field that has one value in each row, by its id."""
    return {each.field.field_id: each for each in _places(schema.fields, ())}


def _places(fields: Iterable[NestedField], above: tuple[int, ...]) -> Iterator[ColumnPlace]:
    for position, field in enumerate(fields):
        match field.field_type:
            case PrimitiveType() as kind:
                yield ColumnPlace(field, kind, (*above, position))
            case StructType() as struct:
                yield from _places(struct.fields, (*above, position))
