"""Which columns may be keys of a join?"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

_EQUALITIES = (exp.EQ, exp.NullSafeEQ)


def compared_columns(tree: exp.Expr) -> frozenset[str]:
    """Returns the names, in lower case, of all columns in an equality of columns or in an IN with a query.

    >>> from sqlglot import parse_one
    >>> sql = "SELECT 1 FROM f JOIN d ON f.K = d.key WHERE d.year = 2000 AND b IN (SELECT c FROM e)"
    >>> sorted(compared_columns(parse_one(sql, read="spark")))
    ['b', 'c', 'k', 'key']
    """
    return frozenset(column.name.lower() for column in _compared(tree))


def _compared(tree: exp.Expr) -> Iterator[exp.Column]:
    for node in tree.find_all(*_EQUALITIES, exp.In):
        if isinstance(node, exp.In):
            query = node.args.get("query")
            if query is not None:
                yield from node.this.find_all(exp.Column)
                selects = query.this.selects if isinstance(query, exp.Subquery) else query.selects
                yield from (column for select in selects for column in select.find_all(exp.Column))
        else:
            sides = [list(side.find_all(exp.Column)) for side in (node.this, node.expression)]
            if all(sides):
                yield from (column for side in sides for column in side)
