"""Does a table's name mean a common table expression?"""

from __future__ import annotations

from itertools import takewhile

from sqlglot import exp


def is_expression_name(table: exp.Table) -> bool:
    """Whether a common table expression of that name is visible here; if not, it names a table or a view.

    Such an expression sees those before it, and itself only if it is recursive.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("WITH c AS (SELECT * FROM c) SELECT * FROM C", read="spark")
    >>> [is_expression_name(table) for table in tree.find_all(exp.Table)]
    [True, False]
    """
    if table.db:
        return False
    below: exp.Expr = table
    while (above := below.parent) is not None:
        if any(cte.alias.lower() == table.name.lower() for cte in _seen(above, below)):
            return True
        below = above
    return False


def _seen(above: exp.Expr, below: exp.Expr) -> list[exp.Expr]:
    """Returns the common table expressions that `above` makes visible to its part `below`."""
    if isinstance(above, exp.With):
        before = list(takewhile(lambda expression: expression is not below, above.expressions))
        return [*before, below] if above.args.get("recursive") else before
    clause = above.args.get("with_")
    return clause.expressions if isinstance(clause, exp.With) and clause is not below else []
