"""The order of rows after a rewrite, and where the files end in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from service.adapters.layouts.placed_rows import PlacedRows
from service.model.tables.rewritten_sizes import RowOrder

Places = npt.NDArray[np.int64]

_MICROSECONDS = pa.timestamp("us")


def ordered_rows(rows: PlacedRows, order: RowOrder, partitions: Places) -> tuple[pa.Table, Places]:
    """Returns the rows in their new order, and the places where a partition begins.

    `partitions` has a number for the partition of each file of the table.

    Raises:
        KeyError: a column is missing.
        pa.ArrowException: it has values that are not sorted.
    """
    table = rows.table
    of_rows = pa.array(partitions[rows.row_files])
    keys = [table.column(column) for column in order.columns]
    if order.transform is not None:
        keys = [transformed(keys[0], order.transform)]
    # NULL comes first.
    columns = [of_rows, *(column for key in keys for column in (pc.is_valid(key), key))]
    by = pa.table(columns, names=[f"key {number}" for number in range(len(columns))])
    places = pc.sort_indices(by, sort_keys=[(name, "ascending") for name in by.column_names])
    starts = _changes(of_rows.take(places))
    if order.transform is not None:
        starts = np.union1d(starts, _changes(keys[0].take(places)))
    return table.take(places), starts.astype(np.int64)


def transformed(values: pa.ChunkedArray, transform: str) -> pa.ChunkedArray:
    """Returns the values that are equal for rows of one partition.

    >>> import datetime
    >>> days = pa.chunked_array([[datetime.date(2024, 2, 28), datetime.date(2024, 2, 29)]])
    >>> transformed(days, "month").to_pylist()
    [24290, 24290]
    """
    if transform == "identity":
        return values
    days = values if pa.types.is_date32(values.type) else pc.cast(values, _MICROSECONDS, safe=False)
    match transform:
        case "year":
            return pc.year(days)
        case "month":
            return pc.add(pc.multiply(pc.year(days), 12), pc.month(days))
    return pc.cast(days, pa.date32(), safe=False)


def pieces(starts: Places, row_count: int, file_rows: int) -> list[tuple[int, int]]:
    """Returns the first row and the length of each file; none has rows of two partitions.

    >>> pieces(np.array([0, 5]), row_count=7, file_rows=3)
    [(0, 3), (3, 2), (5, 2)]
    """
    found: list[tuple[int, int]] = []
    ends: Sequence[int] = [*(int(start) for start in starts[1:]), row_count]
    for start, end in zip(starts, ends, strict=True):
        found += [(place, min(file_rows, end - place)) for place in range(int(start), end, max(1, file_rows))]
    return found


def _changes(values: pa.Array | pa.ChunkedArray) -> Places:
    """Returns the places whose value is another one than that before it, and 0."""
    if not len(values):
        return np.zeros(1, np.int64)
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    numbers = array.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1]).astype(np.int64)
