"""In how many places is each SELECT of a query read?"""

from __future__ import annotations

from collections.abc import Mapping, Set

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

# A function whose argument is the name of a table, but looks like a column.
_OF_TABLE = "table"


def reader_counts(root: Scope) -> Mapping[int, int]:
    """Returns the number of readers by each scope's identity; one too many if a part is in no scope.

    Such a part of the query is a subquery in the arguments of a table function, or the source of an UNPIVOT.
    It may read any SELECT once more.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> def most(text):
    ...     tree = parse_one(f"WITH r AS (SELECT t.k FROM t) {text}")
    ...     return max(reader_counts(build_scope(tree)).values())
    >>> most("SELECT r.k FROM r"), most("SELECT r.k FROM r, explode((SELECT array_agg(r.k) FROM r)) AS e")
    (1, 2)
    """
    counted = root.ref_count()
    return counted if _are_all_seen(root) else {name: count + 1 for name, count in counted.items()}


def _are_all_seen(root: Scope) -> bool:
    """Whether each SELECT is a scope, and each name of a common table expression is a reference in one.

    A pivot hides the relation that it reads. Parentheses allow two relations of one name, and then one hides
    the other.
    """
    selects: set[int] = set()
    read: set[int] = set()
    for scope in root.traverse():
        selects.add(id(scope.expression))
        names = [name for name, _ in scope.references]
        if len(set(names)) < len(names):
            return False
        read |= {id(node) for name, node in scope.references if isinstance(scope.sources.get(name), Scope)}
    # One walk for all checks, because every new text is checked.
    nodes = list(root.expression.find_all(exp.Select, exp.SetOperation, exp.Table, exp.Anonymous, exp.CTE))
    common = {node.alias.lower() for node in nodes if isinstance(node, exp.CTE)}
    return all(_is_seen(node, selects, read, common) for node in nodes)


def _is_seen(node: exp.Expr, selects: Set[int], read: Set[int], common: Set[str]) -> bool:
    if isinstance(node, exp.CTE):
        return True
    if isinstance(node, exp.Anonymous):
        return not common or node.name.lower() != _OF_TABLE
    if isinstance(node, exp.Table):
        # A name with a schema is a table's, unless it is pivoted: then the qualifier has added the schema.
        is_common = node.name.lower() in common and (not node.db or bool(node.args.get("pivots")))
        return not is_common or id(node) in read or node.find_ancestor(exp.Hint) is not None
    return id(node) in selects
