"""Selects the fields of a table that a data file holds, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyiceberg.schema import Schema
from pyiceberg.types import IcebergType, ListType, MapType, NestedField, StructType


def file_schema(schema: Schema, column_ids: tuple[int, ...] | None) -> Schema:
    """Returns the fields with these ids, in their order; all fields for None.

    A struct is written in part if ids of its fields are given, also in a list or in a map's values. It takes
    the position of the first of them.

    Raises:
        ValueError: an id is not in the schema, is given twice, or lies inside a field that is given whole.
    """
    if column_ids is None:
        return schema
    ranks = {field_id: rank for rank, field_id in enumerate(column_ids)}
    chosen = _chosen(schema.fields, ranks)
    found = [field_id for _, _, ids in chosen for field_id in ids]
    if sorted(found) != sorted(column_ids):
        lost = sorted(set(column_ids) - set(found)) or sorted(column_ids)
        raise ValueError(f"No file can be written with the field ids {lost} of {list(column_ids)}.")
    return Schema(*(field for _, field, _ in chosen), schema_id=schema.schema_id)


_Chosen = tuple[int, NestedField, tuple[int, ...]]


def _chosen(fields: Iterable[NestedField], ranks: Mapping[int, int]) -> list[_Chosen]:
    found = [chosen for field in fields if (chosen := _chosen_field(field, ranks))]
    return sorted(found, key=lambda positioned: positioned[0])


def _chosen_field(field: NestedField, ranks: Mapping[int, int]) -> _Chosen | None:
    """Returns the field's rank, the part of it to write, and the ids that selected the part."""
    if field.field_id in ranks:
        return ranks[field.field_id], field, (field.field_id,)
    kind = field.field_type
    match kind:
        case StructType():
            parts = _chosen(kind.fields, ranks)
            if not parts:
                return None
            ids = tuple(field_id for _, _, ids in parts for field_id in ids)
            return parts[0][0], _with_type(field, StructType(*(part for _, part, _ in parts))), ids
        case ListType():
            part = _chosen_field(kind.element_field, ranks)
            if part is None:
                return None
            element = ListType(kind.element_id, part[1].field_type, kind.element_required)
            return part[0], _with_type(field, element), part[2]
        case MapType():
            # A key is always written whole.
            part = _chosen_field(kind.value_field, ranks)
            if part is None:
                return None
            value = part[1].field_type
            whole = MapType(kind.key_id, kind.key_type, kind.value_id, value, kind.value_required)
            return part[0], _with_type(field, whole), part[2]
        case _:
            return None


def _with_type(field: NestedField, kind: IcebergType) -> NestedField:
    return NestedField(field.field_id, field.name, kind, field.required, field.doc)
