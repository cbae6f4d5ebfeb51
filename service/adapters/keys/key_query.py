"""Reading the query that collects keys, where it asks one table for columns of it."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_CLAUSES = {"distinct", "expressions", "from_", "where"}
_TABLE_PARTS = {"this", "db", "catalog", "version", "alias"}


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """`SELECT DISTINCT <columns> FROM <a table> VERSION AS OF <snapshot_id> WHERE <condition>`."""

    columns: tuple[exp.Column, ...]
    table_alias: str
    snapshot_id: int
    condition: exp.Expr | None


def key_query(sql: str) -> KeyQuery | None:
    """What the query asks for; None when it is of any other shape.

    >>> query = key_query("SELECT DISTINCT a.k AS k0 FROM s.t VERSION AS OF 7 AS a WHERE a.v = 1")
    >>> query.columns[0].name, query.table_alias, query.snapshot_id, query.condition.sql()
    ('k', 'a', 7, 'a.v = 1')
    >>> key_query("SELECT DISTINCT a.k FROM t AS a, s AS b")
    """
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except SqlglotError:
        return None
    if not (isinstance(tree, exp.Select) and _has_only(tree, _CLAUSES)):
        return None
    distinct, source = tree.args.get("distinct"), tree.args.get("from_")
    if distinct is None or distinct.args.get("on") or source is None:
        return None
    selected = [each.unalias() for each in tree.expressions]
    columns = tuple(each for each in selected if isinstance(each, exp.Column))
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
