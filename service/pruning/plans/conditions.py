"""Expressions as a plan shows them: conjuncts one by one, subqueries as plans of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp


def conjuncts(condition: exp.Expr) -> Sequence[exp.Expr]:
    """Returns the conditions that AND joins.

    >>> from sqlglot import condition
    >>> [conjunct.sql() for conjunct in conjuncts(condition("(a = 1 AND b = 2) AND c = 3"))]
    ['a = 1', 'b = 2', 'c = 3']
    """
    found: list[exp.Expr] = []
    waiting = [condition]
    while waiting:
        node = waiting.pop().unnest()
        if isinstance(node, exp.And):
            waiting += [node.expression, node.this]
        else:
            found.append(node)
    return found


def text_of(expression: exp.Expr) -> str:
    """Returns the expression in Spark's SQL, with `$subquery` in the place of each subquery.

    >>> from sqlglot import parse_one
    >>> text_of(parse_one("a IN (SELECT b FROM t)"))
    'a IN ($subquery)'
    """
    if isinstance(expression, exp.Query):
        return "$subquery"
    copy = expression.copy()
    for query in list(subqueries(copy)):
        name = "($subquery)" if isinstance(query.parent, exp.In) else "$subquery"
        query.replace(exp.Var(this=name))
    return copy.sql("spark", comments=False)


def subqueries(expression: exp.Expr) -> Iterator[exp.Query]:
    """Yields the subqueries of an expression, without those inside others."""
    if isinstance(expression, exp.Query):
        yield expression
        return
    for child in expression.iter_expressions():
        yield from subqueries(child)
