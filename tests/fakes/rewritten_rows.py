"""Rows that take a given space in any order."""

from __future__ import annotations

from collections.abc import Callable

from service.model.tables.rewritten_sizes import RewrittenSizes, RowOrder


class FakeRewrittenRows:
    """Has the columns `columns`. The first half of all rows takes `first` bytes a row, the rest `second`."""

    def __init__(self, columns: frozenset[str], first: float, second: float) -> None:
        self._columns = columns
        self._sizes = RewrittenSizes((0.5, 1.0), (first, second))
        self.orders: list[RowOrder] = []

    def sizes(self, order: RowOrder, is_late: Callable[[], bool]) -> RewrittenSizes | None:
        self.orders.append(order)
        return None if is_late() or not self._columns.issuperset(order.columns) else self._sizes
