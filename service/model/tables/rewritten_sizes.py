"""How many bytes rows take after a rewrite of a table's files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrder:
    """The order of rows after a rewrite. Each partition of now stays apart.

    Rows are sorted by `columns`, or keep their order without any. With a `transform`, there is one column,
    and rows of each of its transformed values get files of their own, in their order of now. `file_rows` is
    how many rows a file has at most.
    """

    file_rows: int
    columns: tuple[str, ...] = ()
    transform: str | None = None


@dataclass(frozen=True, slots=True)
class RewrittenSizes:
    """The bytes of one row on average, by its place in the new order of all rows.

    The rows from one of `ends` to the next take `row_bytes` each. Ends are shares of all rows, and the last
    one is 1.
    """

    ends: tuple[float, ...]
    row_bytes: tuple[float, ...]
