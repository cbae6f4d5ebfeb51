"""Conditions on aggregates, which the engine cannot push below the aggregation."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope


def asks_aggregates_alone(condition: exp.Expr, relation: Scope, reader: exp.Expr) -> bool:
    """Whether the condition filters only by aggregates of a derived table, and says nothing of other rows.

    `reader` is the SELECT that has the condition. A column that it also compares with another table does not
    count: the engine would infer a filter on that table. The same holds for every SELECT that reads
    `reader`, so it should be the query itself.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> def asks(where: str) -> bool:
    ...     text = "SELECT * FROM (SELECT k, count(*) AS n FROM f GROUP BY k) AS g, d WHERE "
    ...     root = build_scope(parse_one(text + where, read="spark"))
    ...     condition = next(root.expression.args["where"].this.flatten())
    ...     return asks_aggregates_alone(condition, root.sources["g"], root.expression)
    >>> asks("g.n > 1 AND g.k = d.k"), asks("g.k > 1 AND g.k = d.k"), asks("g.n > 1 AND g.n = d.k")
    (True, False, False)
    """
    columns = list(condition.find_all(exp.Column))
    return bool(columns) and all(
        _is_aggregate(relation, column.name) and not _is_compared(reader, column) for column in columns
    )


def filters_aggregates_alone(having: exp.Having) -> bool:
    """Whether HAVING names columns within aggregates alone. No other SELECT may read those of its SELECT.

    >>> from sqlglot import parse_one
    >>> def filters(text: str) -> bool:
    ...     return filters_aggregates_alone(parse_one(f"SELECT 1 FROM f GROUP BY k {text}").args["having"])
    >>> filters("HAVING sum(v) > 1"), filters("HAVING k > 1"), filters("HAVING sum(v) > (SELECT 1)")
    (True, False, False)
    """
    if having.find(exp.Query, exp.Window) is not None:
        return False
    return all(column.find_ancestor(exp.AggFunc) is not None for column in having.find_all(exp.Column))


def _is_aggregate(relation: Scope, name: str) -> bool:
    """Whether the column is made by an aggregate function in the SELECT that the relation is."""
    select = relation.expression
    if not isinstance(select, exp.Select):
        return False
    found = [value for value in select.selects if value.alias_or_name.lower() == name.lower()]
    return (
        len(found) == 1
        and found[0].find(exp.AggFunc) is not None
        and found[0].find(exp.Window, exp.Query) is None
    )


def _is_compared(reader: exp.Expr, column: exp.Column) -> bool:
    """Whether the SELECT has the column in a condition of a join, or beside another table's column."""
    if not isinstance(reader, exp.Select):
        return True
    name = column.name.lower()
    for join in reader.args.get("joins") or ():
        used = [identifier.name.lower() for identifier in join.args.get("using") or ()]
        on = join.args.get("on")
        named = [] if on is None else [found.name.lower() for found in on.find_all(exp.Column)]
        if join.args.get("method") == "NATURAL" or name in used or name in named:
            return True
    where = reader.args.get("where")
    conjuncts = [] if where is None else [where.this]
    if where is not None and isinstance(where.this, exp.And):
        conjuncts = list(where.this.flatten())
    return any(_has_beside_others(conjunct, name) for conjunct in conjuncts)


def _has_beside_others(conjunct: exp.Expr, name: str) -> bool:
    columns = list(conjunct.find_all(exp.Column))
    is_alone = len({column.table for column in columns}) == 1 and conjunct.find(exp.Query) is None
    return not is_alone and any(column.name.lower() == name for column in columns)
