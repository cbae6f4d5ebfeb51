"""The text that joins the rows of a table's snapshot with keys, in a child session."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from service.model.tables.tables import TableName
from spark_session.session.key_predicates import key_predicate
from spark_session.table_sql_name import quoted, table_sql_name


def stored_rows(
    table: TableName,
    snapshot_id: int,
    key_columns: Sequence[str | None],
    keys: pa.Table,
    columns: Sequence[str],
    *,
    has_current_names: bool,
) -> str:
    """Returns a query of these columns, and of `key_0` and so on, of rows that may have one of the keys."""
    conditions, selected = [], list(columns)
    for place, name in enumerate(key_columns):
        column = "NULL" if name is None else quoted([name])
        selected.append(f"{column} AS `key_{place}`")
        # Iceberg projects conditions on partitions by the names that columns have now.
        can_select = name is not None and has_current_names
        predicate = key_predicate(column, _array(keys.column(place))) if can_select else None
        if predicate is not None:
            conditions.append(predicate)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    source = f"{table_sql_name(table)} VERSION AS OF {snapshot_id}"
    return f"SELECT {', '.join(selected)} FROM {source}{where}"


def equal_keys(count: int) -> str:
    """Returns the condition under which `stored` and `asked` have equal keys: NULL equals NULL."""
    return " AND ".join(f"stored.`key_{place}` <=> asked.`key_{place}`" for place in range(count))


def _array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
