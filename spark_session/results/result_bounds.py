"""Cuts rows to the bounds of a result."""

from __future__ import annotations

from bisect import bisect_right

import pyarrow as pa


def cut(rows: pa.Table, row_limit: int, byte_limit: int, at_least: int = 1) -> pa.Table:
    """Returns the first rows within both limits; `at_least` so many, if there are.

    >>> cut(pa.table({"n": [1, 2, 3]}), row_limit=2, byte_limit=1000).num_rows
    2
    >>> cut(pa.table({"n": [1, 2, 3]}), 2, 4).num_rows, cut(pa.table({"n": [1, 2, 3]}), 2, 4, 0).num_rows
    (1, 0)
    """
    # A slice of a table without columns has as many rows as it is asked for.
    found = rows.slice(0, min(row_limit, rows.num_rows))
    if found.nbytes > byte_limit:
        # Rows differ in size, so their number says nothing; but the size of the first n only grows with n.
        counts = range(1, found.num_rows + 1)
        fitting = bisect_right(counts, byte_limit, key=lambda count: found.slice(0, count).nbytes)
        found = found.slice(0, max(at_least, fitting))
    return found
