"""Rows that are written in other orders, in memory, to see how many bytes they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import structlog

from service.adapters.layouts.placed_rows import PlacedRows
from service.adapters.layouts.row_orders import Places, ordered_rows, pieces
from service.adapters.layouts.spark_parquet import ParquetOptions, file_bytes
from service.errors.gateway_error import GatewayError
from service.model.tables.rewritten_sizes import RewrittenSizes, RowOrder
from service.model.tables.table_layout import TableLayout

log = structlog.get_logger(__name__)

_FILES_AT_MOST = 64
# Files that are gone, or have other columns or values than they should.
_FAILURES = (OSError, MemoryError, GatewayError, pa.ArrowException, LookupError, TypeError, ValueError)
_WHOLE = 0.99
_THINNER = 3
_LEAST = 0.25
"""A column takes at least this share of its bytes in a part of the table."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file with the rows from `start`, `length` in number, and the bytes of its columns."""

    start: int
    length: int
    columns: Mapping[str, int]


class ArrowRewrittenRows:
    """The `RewrittenRows` port. `read` returns rows of the layout's files.

    `own_bytes` are those of each file that do not depend on its rows.
    """

    def __init__(
        self,
        layout: TableLayout,
        options: ParquetOptions,
        read: Callable[[Callable[[], bool]], PlacedRows | None],
        own_bytes: int,
    ) -> None:
        self._layout = layout
        self._options = options
        self._read = read
        self._own_bytes = own_bytes
        self._rows: PlacedRows | None = None
        self._is_read = False
        self._found: dict[RowOrder, RewrittenSizes | None] = {}
        names: dict[str, int] = {}
        self._partitions = np.array(
            [names.setdefault(file.partition, len(names)) for file in layout.files], np.int64
        )

    @property
    def read_bytes(self) -> int:
        """The bytes of the rows in memory, once they are read."""
        return 0 if self._rows is None else int(self._rows.table.nbytes)

    def sizes(self, order: RowOrder, is_late: Callable[[], bool]) -> RewrittenSizes | None:
        """Returns how many bytes rows would take in this order; None if it cannot be found out in time."""
        if order not in self._found:
            try:
                self._found[order] = self._sizes(order, is_late)
            except _FAILURES as failure:
                # Advice goes on without. The message may hold addresses or values.
                log.warning(
                    "sizes_not_predicted", table=str(self._layout.table), reason=type(failure).__name__
                )
                self._found[order] = None
        return self._found[order]

    def _sizes(self, order: RowOrder, is_late: Callable[[], bool]) -> RewrittenSizes | None:
        if not self._is_read:
            self._is_read = True
            self._rows = self._read(is_late)
        rows = self._rows
        if rows is None or not rows.table.num_rows:
            return None
        table, starts = ordered_rows(rows, order, self._partitions)
        if rows.share >= _WHOLE:
            files = self._files(table, pieces(starts, table.num_rows, order.file_rows), is_late)
            return None if files is None else self._sizes_of(files, 1.0, table.num_rows)
        return self._of_a_part(rows, order, table, starts, is_late)

    def _of_a_part(
        self,
        rows: PlacedRows,
        order: RowOrder,
        table: pa.Table,
        starts: Places,
        is_late: Callable[[], bool],
    ) -> RewrittenSizes | None:
        """Returns sizes of all rows, by a part of them.

        A file of a part either has too few rows, or too many values of the columns that it is sorted by: both
        make it larger, for each column in another way. Rows that lie beside each other in the whole table are
        also apart in the part. A still smaller part shows how much that is.
        """
        cut = pieces(starts, table.num_rows, max(1, round(order.file_rows * rows.share)))
        file_rows = min(order.file_rows, max(1, self._layout.record_count // len(cut)))
        thinner, _ = ordered_rows(rows.part(_THINNER), order, self._partitions)
        alike = min(file_rows, thinner.num_rows)
        long = self._files(table, _evenly(table.num_rows, file_rows), is_late)
        short = self._files(table, cut, is_late)
        here = self._files(table, _evenly(table.num_rows, alike), is_late)
        there = self._files(thinner, _evenly(thinner.num_rows, alike), is_late)
        if long is None or short is None or here is None or there is None:
            return None
        by_column, by_short = _row_bytes(long), _row_bytes(short)
        now, thin = _row_bytes(here), _row_bytes(there)
        whole = 0.0
        for column, size in by_column.items():
            least = min(size, by_short.get(column, size))
            slope = min(0.0, now.get(column, 0.0) - thin.get(column, 0.0)) / math.log(_THINNER)
            whole += max(least * _LEAST, least + slope * math.log(1 / rows.share))
        return self._sizes_of(long, whole / sum(by_column.values()), table.num_rows)

    def _files(
        self, table: pa.Table, files: Sequence[tuple[int, int]], is_late: Callable[[], bool]
    ) -> list[_File] | None:
        found: list[_File] = []
        count = min(len(files), _FILES_AT_MOST)
        for place in range(count):
            if is_late():
                return None
            start, length = files[(2 * place + 1) * len(files) // (2 * count)]
            found.append(_File(start, length, file_bytes(table.slice(start, length), self._options)))
        return found

    def _sizes_of(self, files: Sequence[_File], factor: float, row_count: int) -> RewrittenSizes:
        """Returns the sizes of rows in these files, and of those between two of them as in the nearer one."""
        ends = [(one.start + one.length + next_.start) / 2 / row_count for one, next_ in pairwise(files)]
        own = self._own_bytes
        sizes = [(sum(file.columns.values()) * factor + own) / file.length for file in files]
        return RewrittenSizes((*ends, 1.0), tuple(sizes))


def _evenly(row_count: int, file_rows: int) -> list[tuple[int, int]]:
    return pieces(np.zeros(1, np.int64), row_count, file_rows)


def _row_bytes(files: Sequence[_File]) -> dict[str, float]:
    """Returns the bytes of a row in each column."""
    rows = sum(file.length for file in files)
    return {column: sum(file.columns.get(column, 0) for file in files) / rows for column in files[0].columns}
