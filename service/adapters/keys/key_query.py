"""Parses queries for keys and for rows if they select only columns of one table."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_CLAUSES = {"expressions", "from_", "where"}
_TABLE_PARTS = {"this", "db", "catalog", "version", "alias"}


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """`SELECT DISTINCT <columns> FROM <a table> VERSION AS OF <snapshot_id> WHERE <condition>`.

    A query for rows is the same without DISTINCT.
    """

    columns: tuple[exp.Column, ...]
    table_alias: str
    snapshot_id: int
    condition: exp.Expr | None


def key_query(sql: str) -> KeyQuery | None:
    """Parses a query for keys; None if it has any other shape.

    >>> query = key_query("SELECT DISTINCT a.k AS k0 FROM s.t VERSION AS OF 7 AS a WHERE a.v = 1")
    >>> query.columns[0].name, query.table_alias, query.snapshot_id, query.condition.sql()
    ('k', 'a', 7, 'a.v = 1')
    >>> key_query("SELECT DISTINCT a.k FROM t AS a, s AS b")
    """
    return _one_table_query(sql, is_distinct=True)


def row_query(sql: str) -> KeyQuery | None:
    """Parses a query that reads the rows of a small table; None if it has any other shape.

    >>> row_query("SELECT a.k, a.v FROM s.t VERSION AS OF 7 AS a").condition
    >>> row_query("SELECT DISTINCT a.k FROM s.t VERSION AS OF 7 AS a")
    """
    return _one_table_query(sql, is_distinct=False)


def have_same_rows(keys: KeyQuery, rows: KeyQuery, is_null_safe: bool) -> bool:
    """Whether both read the same rows, apart from rows without a key if NULL is not a key.

    >>> source = "FROM t VERSION AS OF 7 AS t0 WHERE"
    >>> keys = key_query(f"SELECT DISTINCT t0.k {source} t0.v = 1 AND NOT t0.k IS NULL")
    >>> rows = row_query(f"SELECT t0.k, t0.v {source} (t0.v = 1)")
    >>> have_same_rows(keys, rows, is_null_safe=False), have_same_rows(keys, rows, is_null_safe=True)
    (True, False)
    """
    have_keys = (exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())) for column in keys.columns)
    left_out = frozenset() if is_null_safe else frozenset(map(_spelled, have_keys))
    same = _conjuncts(keys.condition) - left_out == _conjuncts(rows.condition) - left_out
    return same and (keys.table_alias, keys.snapshot_id) == (rows.table_alias, rows.snapshot_id)


def _conjuncts(condition: exp.Expr | None) -> frozenset[str]:
    if condition is None:
        return frozenset()
    whole = condition.unnest()
    if not isinstance(whole, exp.And):
        return frozenset((_spelled(whole),))
    return frozenset(spelled for part in whole.flatten() for spelled in _conjuncts(part))


def _spelled(condition: exp.Expr) -> str:
    return condition.unnest().sql("spark", identify=True)


def _one_table_query(sql: str, *, is_distinct: bool) -> KeyQuery | None:
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except SqlglotError:
        return None
    clauses = _CLAUSES | {"distinct"} if is_distinct else _CLAUSES
    if not (isinstance(tree, exp.Select) and _has_only(tree, clauses)):
        return None
    distinct, source = tree.args.get("distinct"), tree.args.get("from_")
    if source is None or (is_distinct and (distinct is None or distinct.args.get("on"))):
        return None
    selected = [expression.unalias() for expression in tree.expressions]
    columns = tuple(column for column in selected if isinstance(column, exp.Column))
    table = source.this
    snapshot_id = _snapshot_id(table)
    if len(columns) != len(selected) or snapshot_id is None:
        return None
    where = tree.args.get("where")
    return KeyQuery(columns, table.alias_or_name, snapshot_id, where.this if where else None)


def _snapshot_id(table: exp.Expr) -> int | None:
    if not (isinstance(table, exp.Table) and _has_only(table, _TABLE_PARTS)):
        return None
    version = table.args.get("version")
    if not isinstance(version, exp.Version) or (version.name, version.text("kind")) != ("VERSION", "AS OF"):
        return None
    number = version.expression
    is_id = isinstance(number, exp.Literal) and not number.is_string and number.name.isdecimal()
    return int(number.name) if is_id else None


def _has_only(node: exp.Expr, parts: set[str]) -> bool:
    return all(key in parts for key, value in node.args.items() if value)
