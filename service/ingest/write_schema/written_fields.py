"""Computes the fields that data files hold, for a write schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.model.tables.schemas import Field, Struct, TableSchema


def written_fields(schema: TableSchema, column_ids: Sequence[int] | None) -> tuple[Field, ...]:
    """Returns whole fields and parts of structs, in the write schema's order; without one, all fields.

    A struct stands where the first of its fields does.

    >>> from service.model.tables.schemas import Primitive
    >>> city, street = Field(3, "city", Primitive("string")), Field(4, "street", Primitive("string"))
    >>> place = Field(2, "place", Struct((city, street)))
    >>> schema = TableSchema(0, (Field(1, "id", Primitive("long")), place))
    >>> [(field.name, len(field.children)) for field in written_fields(schema, (4, 1))]
    [('place', 1), ('id', 0)]
    """
    if column_ids is None:
        return schema.columns
    return _written(schema.columns, column_ids)


def _written(fields: tuple[Field, ...], ids: Sequence[int]) -> tuple[Field, ...]:
    places = {field_id: place for place, field_id in enumerate(ids)}
    found: list[tuple[int, Field]] = []
    for field in fields:
        if field.field_id in places:
            found.append((places[field.field_id], field))
        elif isinstance(field.type, Struct):
            inner = _written(field.type.fields, ids)
            if inner:
                place = min(_first_place(field, places) for field in inner)
                found.append((place, replace(field, type=Struct(inner))))
    return tuple(field for _, field in sorted(found, key=lambda positioned: positioned[0]))


def _first_place(field: Field, places: dict[int, int]) -> int:
    if field.field_id in places:
        return places[field.field_id]
    return min(_first_place(child, places) for child in field.children)
