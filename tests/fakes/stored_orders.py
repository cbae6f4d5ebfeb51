"""Orders of stored rows, read with PyIceberg: of tables without deletes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyiceberg.table import Table

from service.ports.tables.stored_orders import StoredOrdersQuery


class FakeStoredOrders:
    """Implements `StoredOrders`. `asked` are the questions so far; `before` is called before each answer."""

    def __init__(self, table: Callable[[], Table], before: Callable[[], None] = lambda: None) -> None:
        self._table = table
        self._before = before
        self.asked: list[StoredOrdersQuery] = []

    def of(self, asked: StoredOrdersQuery) -> pa.Table:
        self.asked.append(asked)
        self._before()
        found: dict[tuple[Any, ...], Any] = {}
        for row in self._table().scan(snapshot_id=asked.snapshot_id).to_arrow().to_pylist():
            key = tuple(None if name is None else row[name] for name in asked.key_columns)
            orders = [order for order in (found.get(key), row[asked.order_column]) if order is not None]
            found[key] = max(orders, default=None)
        keys = list(zip(*(column.to_pylist() for column in asked.keys.columns), strict=True))
        numbered = [(number, found[key]) for number, key in enumerate(keys) if key in found]
        return pa.table(
            {
                "number": pa.array([number for number, _ in numbered], pa.int64()),
                "order": pa.array([order for _, order in numbered]),
            }
        )
