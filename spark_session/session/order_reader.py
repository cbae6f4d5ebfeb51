"""Reads the greatest order of stored rows by their keys, in one child session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from service.errors.query_errors import QueryCanceled
from service.ports.tables.stored_orders import StoredOrdersQuery
from spark_session.results.row_collector import RowCollector
from spark_session.session.child_sessions import ChildSessions
from spark_session.session.key_join import equal_keys, stored_rows
from spark_session.session.local_relation_store import LocalRelationStore
from spark_session.table_sql_name import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEYS = "sluice_asked_keys"


class OrderReader:
    """Asks the session's JVM, with the keys as a relation of the child session."""

    def __init__(self, children: ChildSessions, relations: LocalRelationStore, rows: RowCollector) -> None:
        self._children = children
        self._relations = relations
        self._rows = rows

    def read(self, asked: StoredOrdersQuery, tag: str, is_canceled: Callable[[], bool]) -> pa.Table:
        """Returns `number` and `order` of the keys with stored rows. Its jobs carry the tag.

        Raises:
            QueryCanceled: it was canceled before it had jobs, which could have been stopped.
            PySparkException: Spark cannot read the rows.
        """
        with self._children.taken(None, None, tag) as child:
            self._bind(child, asked.keys)
            frame = child.sql(orders_sql(asked))
            self._rows.is_short(frame, asked.keys.num_rows)
            if is_canceled():
                raise QueryCanceled
            return self._rows.collect(frame, is_short=False)

    def _bind(self, child: SparkSession, keys: pa.Table) -> None:
        numbers = pa.array(range(keys.num_rows), pa.int64())
        names = ["number", *(f"key_{place}" for place in range(keys.num_columns))]
        self._relations.bind_rows(child, _KEYS, pa.Table.from_arrays([numbers, *keys.columns], names=names))


def orders_sql(asked: StoredOrdersQuery) -> str:
    """Returns the text that reads the orders; keys are compared so that NULL equals NULL."""
    stored = stored_rows(
        asked.key.table,
        asked.snapshot_id,
        asked.key_columns,
        asked.keys,
        [f"{quoted([asked.order_column])} AS `order`"],
        has_current_names=asked.has_current_names,
    )
    return (
        "SELECT /*+ BROADCAST(asked) */ asked.`number`, max(stored.`order`) AS `order`"
        f" FROM ({stored}) AS stored"
        f" JOIN {_KEYS} AS asked ON {equal_keys(len(asked.key_columns))} GROUP BY asked.`number`"
    )
