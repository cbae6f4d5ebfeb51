"""Does a query join by the subqueries in its expressions?"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope


def has_joining_subqueries(root: Scope) -> bool:
    """Whether the engine may turn a subquery into a join, or the query has a LEFT SEMI or ANTI join.

    The engine prunes either side of such a join by the other, and may push the join down to one side of an
    outer query's join. A correlated scalar subquery becomes a join too. An uncorrelated one does not: it has
    one value for all rows.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> def has_any(condition):
    ...     sql = f"SELECT f.x FROM f WHERE {condition}"
    ...     return has_joining_subqueries(build_scope(parse_one(sql, read="spark")))
    >>> has_any("f.x > (SELECT max(g.y) FROM g)"), has_any("(SELECT max(g.y) FROM g WHERE g.k = f.k) > 1")
    (False, True)
    >>> has_any("f.k IN (SELECT g.k FROM g)"), has_any("EXISTS (SELECT 1 FROM g)"), has_any("f.k IN (1, 2)")
    (True, True, False)
    """
    tree = root.expression
    compared = tree.find_all(exp.Exists, exp.Any, exp.All, exp.In)
    is_compared = any(
        not isinstance(comparison, exp.In) or comparison.args.get("query") for comparison in compared
    )
    is_semi = any(join.kind in ("SEMI", "ANTI") for join in tree.find_all(exp.Join))
    return is_compared or is_semi or any(scope.is_correlated_subquery for scope in root.traverse())
