"""The conditions that each row of a table must meet to matter to a query for keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from service.adapters.keys.key_literals import NotTranslatable

_INNER = {"", "CROSS", "INNER"}
_TABLE_PARTS = {"this", "db", "catalog", "version", "alias"}


def required_conditions(sql: str) -> Mapping[str, tuple[tuple[str, tuple[exp.Expr, ...]], ...]]:
    """Maps each table, in lower case, to the conditions of each place that reads it, with its name there.

    A row that fails one of the conditions of a place takes no part there. Conditions that name other tables
    are left out. The query's tables have full names.

    >>> found = required_conditions(
    ...     "SELECT a.k FROM l.s.t AS a CROSS JOIN l.s.u AS b WHERE a.v = 1 AND a.j = b.j AND b.w = 2"
    ... )
    >>> [(table, name, [each.sql() for each in found]) for table, [(name, found)] in found.items()]
    [('l.s.t', 'a', ['a.v = 1']), ('l.s.u', 'b', ['b.w = 2'])]

    Raises:
        NotTranslatable: the text has another shape than the gateway's own queries.
    """
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except SqlglotError as error:
        raise NotTranslatable from error
    if tree.find(exp.With):
        raise NotTranslatable
    found: dict[str, tuple[tuple[str, tuple[exp.Expr, ...]], ...]] = {}
    for table in tree.find_all(exp.Table):
        name = ".".join(part.name for part in table.parts).lower()
        found[name] = (*found.get(name, ()), (table.alias_or_name, tuple(_conditions_on(table))))
    return found


def _conditions_on(table: exp.Table) -> Iterator[exp.Expr]:
    select = table.find_ancestor(exp.Select)
    if select is None or not _is_joined_inside(table, select):
        return
    where = select.args.get("where")
    for condition in () if where is None else _conjuncts(where.this):
        columns = list(condition.find_all(exp.Column))
        is_alone = not condition.find(exp.Query) and bool(columns)
        if is_alone and {column.table.lower() for column in columns} == {table.alias_or_name.lower()}:
            yield condition


def _is_joined_inside(table: exp.Table, select: exp.Select) -> bool:
    """Whether the SELECT reads the table itself, and only by joins that drop what its WHERE drops."""
    joins = select.args.get("joins") or []
    source = select.args.get("from_")
    read = [] if source is None else [source.this, *(join.this for join in joins)]
    alias = table.args.get("alias")
    has_other_parts = any(value and part not in _TABLE_PARTS for part, value in table.args.items())
    if has_other_parts or (alias is not None and alias.args.get("columns")):
        return False
    if not any(each is table for each in read) or select.args.get("laterals") or select.args.get("pivots"):
        return False
    return all({join.text("side").upper(), join.text("kind").upper()} <= _INNER for join in joins)


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition
