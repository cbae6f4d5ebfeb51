"""Ends each list of keys with NULL, for queries that the engine prunes too."""

from __future__ import annotations

from sqlglot import exp


def without_equalities(condition: exp.Expr) -> exp.Expr:
    """Returns an equivalent condition from which the engine infers no constant for a join's other side.

    From `k = 'Cy'` or `k IN ('Cy')` Spark infers `key = 'Cy'` on the build side. It then removes the join
    condition, and with it its own dynamic pruning of that join (`InferFiltersFromConstraints`). A list with
    NULL in it matches no more rows, and remains a list. `OwnFilters.java` tells our lists by their NULL from
    those of the query.

    >>> from sqlglot import parse_one
    >>> without_equalities(parse_one("(a = 1 AND b IN (2)) OR a IN (3, 4)")).sql()
    '(a IN (1, NULL) AND b IN (2, NULL)) OR a IN (3, 4, NULL)'
    """
    return condition.copy().transform(_as_list, copy=False)


def _as_list(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.EQ):
        return exp.In(this=node.this, expressions=[node.expression, exp.null()])
    if isinstance(node, exp.In):
        node.append("expressions", exp.null())
    return node
