"""A query for keys that reads cached rows in memory instead of the table that they come from."""

from __future__ import annotations

from service.model.filters.relations import RelationQuery

_DISTINCT = "SELECT DISTINCT "


def cached_rows_query(sql: str, relation: RelationQuery, name: str) -> str | None:
    """Returns a query for the same keys, with duplicates; None if the text reads the table in another way.

    >>> from service.model.filters.dynamic_filter import Build
    >>> from service.model.tables.tables import TableName
    >>> rows_of = Build((TableName("lake", "shop", "days"),), ("k",), "x = 1", (7,))
    >>> source = "`lake`.`shop`.`days` VERSION AS OF 7 AS `t0`"
    >>> rows = RelationQuery(rows_of, f"SELECT `t0`.`k` FROM {source} WHERE (`t0`.`x` = 1)", "r")
    >>> keys = f"SELECT DISTINCT `t0`.`k` AS `k0` FROM {source} WHERE `t0`.`x` = 1"
    >>> cached_rows_query(keys, rows, "days_rows")
    'SELECT `t0`.`k` AS `k0` FROM `days_rows` AS `t0` WHERE `t0`.`x` = 1'
    """
    [table], [snapshot_id] = relation.rows_of.tables, relation.rows_of.snapshot_ids
    named = ".".join(f"`{part.replace('`', '``')}`" for part in table.parts)
    source = f" FROM {named} VERSION AS OF {snapshot_id} AS `t0`"
    if not sql.startswith(_DISTINCT) or sql.count(source) != 1 or source not in relation.sql:
        return None
    # DISTINCT would start a Spark job; without it, the engine evaluates the query while it plans.
    return f"SELECT {sql.removeprefix(_DISTINCT)}".replace(source, f" FROM `{name}` AS `t0`")
