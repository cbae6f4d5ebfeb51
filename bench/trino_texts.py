"""Texts of Spark SQL in the SQL of Trino, with the same rows."""

from __future__ import annotations

import sqlglot
from sqlglot import exp


def trino_text(text: str, row_limit: int) -> str:
    """Returns a query of Spark as one of Trino, with a limit where it has none.

    The two differ in where nulls are sorted, in the division of integers, and in how intervals are written.

    >>> trino_text("SELECT a FROM t WHERE d < d0 + INTERVAL 30 days ORDER BY a LIMIT 9", 10)
    "SELECT a FROM t WHERE d < d0 + INTERVAL '30' DAY ORDER BY a NULLS FIRST LIMIT 9"
    >>> trino_text("SELECT a / b AS c FROM t", 10)
    'SELECT CAST(a AS DOUBLE) / NULLIF(b, 0) AS c FROM t LIMIT 10'
    """
    query = sqlglot.parse_one(text, read="spark")
    if isinstance(query, exp.Query) and query.args.get("limit") is None:
        query = query.limit(row_limit)
    return query.sql(dialect="trino")


def table_names(text: str) -> set[str]:
    """Returns the names of all tables that a query of Spark reads.

    >>> sorted(table_names("SELECT * FROM item, (SELECT * FROM store_sales s JOIN item USING (i_item_sk)) t"))
    ['item', 'store_sales']
    """
    return {table.name for table in sqlglot.parse_one(text, read="spark").find_all(exp.Table)}
