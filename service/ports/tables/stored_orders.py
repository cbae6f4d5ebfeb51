"""The order of rows that a table holds, for upserts whose late records lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from service.model.ingest.writing import TableKey

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class StoredOrdersQuery:
    """Keys whose stored rows are to be looked up, in one snapshot of a table.

    `keys` has a column for each of `key_columns`, in their order, and NULL is a value like any other. Columns
    are named as in the snapshot's own schema; None: the snapshot has no such column, so it reads as NULL.
    `has_current_names`: the table names the key columns so now, too.
    """

    key: TableKey
    snapshot_id: int
    key_columns: tuple[str | None, ...]
    order_column: str
    keys: pa.Table
    has_current_names: bool = True


class StoredOrders(Protocol):
    """Reads how far the rows of a table are in the order of an upsert's records."""

    def of(self, asked: StoredOrdersQuery) -> pa.Table:
        """Returns the greatest order of the stored rows of each key, in bounded time.

        The columns are `number`, the place of the key in the question, and `order`. A key without rows may be
        missing; one whose rows have no order is missing, or has NULL.

        Raises:
            PartDown: the engine is down, or could not read the rows now; try again later.
        """
