"""Sorts rows in a table's sort order.

Source: the Iceberg table specification, "Sort Orders": NULLs as the order says, -0.0 before 0.0, NaN last.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder

from service.adapters.data_files.layout.arrow_transforms import transformed
from service.adapters.data_files.layout.columns import ColumnPlace
from service.model.tables.transforms import is_made_of


def is_sortable(order: SortOrder, places: Mapping[int, ColumnPlace]) -> bool:
    """Whether there is an order, and rows with these columns can be sorted by it."""
    return not order.is_unsorted and all(
        (place := places.get(field.source_id)) is not None
        and is_made_of(str(field.transform), str(place.kind))
        for field in order.fields
    )


def sorted_rows(table: pa.Table, order: SortOrder, places: Mapping[int, ColumnPlace]) -> pa.Table:
    """Returns the same rows, sorted. The sort is stable."""
    keys = [key for field in order.fields for key in _keys(table, field, places[field.source_id])]
    names = [str(index) for index in range(len(keys))]
    directions = [direction for _, direction in keys]
    columns = pa.table([values for values, _ in keys], names=names)
    return table.take(pc.sort_indices(columns, sort_keys=list(zip(names, directions, strict=True))))


def _keys(table: pa.Table, field: SortField, place: ColumnPlace) -> list[tuple[pa.Array, str]]:
    values = transformed(field.transform, place.kind, place.values(table))
    # Arrow has one setting for the NULLs of all keys, and puts NaN beside them. So NULLs become keys of their
    # own, and floats are ranked.
    nulls = pc.is_null(values).cast(pa.int8())
    nulls_at = "descending" if field.null_order == NullOrder.NULLS_FIRST else "ascending"
    values_at = "ascending" if field.direction == SortDirection.ASC else "descending"
    return [(nulls, nulls_at), (_comparable(values), values_at)]


def _comparable(values: pa.Array) -> pa.Array:
    if pa.types.is_floating(values.type):
        return _ranked(values)
    return values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values


def _ranked(values: pa.Array) -> pa.Array:
    """Returns integers with the order of these floats: their bits, inverted for negative ones."""
    kind = pa.int32() if values.type == pa.float32() else pa.int64()
    nan = pa.scalar(float("nan"), values.type)
    bits = pc.if_else(pc.is_nan(values), nan, values).view(kind)
    turned = pc.bit_wise_xor(bits, pa.scalar((1 << (kind.bit_width - 1)) - 1, kind))
    return pc.if_else(pc.less(bits, pa.scalar(0, kind)), turned, bits)
