"""Reads the greatest order of stored rows by their keys, in one child session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from service.errors.query_errors import QueryCanceled
from service.ports.tables.stored_orders import StoredOrdersQuery
from spark_session.results.row_collector import RowCollector
from spark_session.session.child_sessions import ChildSessions
from spark_session.session.key_predicates import key_predicate
from spark_session.session.local_relation_store import LocalRelationStore
from spark_session.table_sql_name import quoted, table_sql_name

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
    order, conditions, pairs = quoted([asked.order_column]), [], []
    columns = [f"{order} AS `order`"]
    for place, name in enumerate(asked.key_columns):
        column = "NULL" if name is None else quoted([name])
        columns.append(f"{column} AS `key_{place}`")
        pairs.append(f"stored.`key_{place}` <=> asked.`key_{place}`")
        # Iceberg projects conditions on partitions by the names that columns have now.
        can_select = name is not None and asked.has_current_names
        predicate = key_predicate(column, _array(asked.keys.column(place))) if can_select else None
        if predicate is not None:
            conditions.append(predicate)
    source = f"{table_sql_name(asked.key.table)} VERSION AS OF {asked.snapshot_id}"
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return (
        "SELECT /*+ BROADCAST(asked) */ asked.`number`, max(stored.`order`) AS `order`"
        f" FROM (SELECT {', '.join(columns)} FROM {source}{where}) AS stored"
        f" JOIN {_KEYS} AS asked ON {' AND '.join(pairs)} GROUP BY asked.`number`"
    )


def _array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
