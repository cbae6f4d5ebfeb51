"""Filters rows in memory by sets of values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from service.model.filters.key_selection import ColumnSet


def rows_within(rows: pa.Table, conditions: Mapping[str, ColumnSet]) -> pa.Table:
    """Returns the rows whose columns have these values.

    >>> rows = pa.table({"k": [1, 2, 3], "month": [3, None, 4]})
    >>> rows_within(rows, {"month": ColumnSet(values=frozenset({3}))})["k"].to_pylist()
    [1]
    >>> rows_within(rows, {"month": ColumnSet(is_null=True)})["k"].to_pylist()
    [2]

    Raises:
        KeyError: there is no such column.
        pyarrow.ArrowException, ValueError, TypeError, OverflowError: a value is not of the column's type.
    """
    # A comparison with NULL is NULL, and such a row is left out.
    masks = [_mask(rows.column(name), values) for name, values in conditions.items()]
    return rows.filter(reduce(pc.and_kleene, masks)) if masks else rows


def _mask(column: pa.ChunkedArray[Any], values: ColumnSet) -> pa.ChunkedArray[Any]:
    if values.is_null:
        return pc.is_null(column)
    if values.values is not None:
        return pc.is_in(column, value_set=pa.array(list(values.values), type=column.type))
    mask = pc.is_valid(column)
    if values.low is not None:
        compare = pc.greater_equal if values.low.is_inclusive else pc.greater
        mask = pc.and_kleene(mask, compare(column, pa.scalar(values.low.value, type=column.type)))
    if values.high is not None:
        compare = pc.less_equal if values.high.is_inclusive else pc.less
        mask = pc.and_kleene(mask, compare(column, pa.scalar(values.high.value, type=column.type)))
    return mask
