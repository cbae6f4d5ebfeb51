"""Are a condition's subqueries uncorrelated, so that they can be evaluated anywhere?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope


def is_uncorrelated(
    condition: exp.Expr, scopes: Mapping[int, Scope], is_known: Callable[[exp.Table], bool]
) -> bool:
    """Whether no subquery in the condition is correlated, and each reads known tables only.

    `scopes` are those of the condition's query, by the identities of their expressions.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> def holds(condition):
    ...     tree = parse_one(f"SELECT 1 FROM d WHERE {condition}", read="spark")
    ...     scopes = {id(scope.expression): scope for scope in build_scope(tree).traverse()}
    ...     return is_uncorrelated(tree.args["where"].this, scopes, lambda table: table.name != "c")
    >>> holds("d.k = 1"), holds("d.k IN (SELECT t.k FROM t)"), holds("d.k IN (SELECT c.k FROM c)")
    (True, True, False)
    >>> holds("d.k = (SELECT max(t.k) FROM t WHERE t.x = d.x)")
    False
    """
    asked = [node for node in condition.walk(prune=_is_query) if _is_query(node)]
    return all(_is_fixed(node, scopes) and all(map(is_known, node.find_all(exp.Table))) for node in asked)


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)


def _is_fixed(query: exp.Expr, scopes: Mapping[int, Scope]) -> bool:
    # A subquery that is not in the text was built by the gateway from parts of the text.
    scope = scopes.get(id(query.unnest())) or build_scope(query.unnest())
    return scope is not None and not any(inner.external_columns for inner in scope.traverse())
