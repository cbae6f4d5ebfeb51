"""In how many places is each SELECT of a query read?"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope


def reader_counts(root: Scope) -> Mapping[int, int]:
    """The number by each scope's identity: where part of the query is in no scope, one too many for each.

    Such a part is a subquery right in a table function's arguments. Whatever it reads, it reads once more.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> def most(text):
    ...     tree = parse_one(f"WITH r AS (SELECT t.k FROM t) {text}")
    ...     return max(reader_counts(build_scope(tree)).values())
    >>> most("SELECT r.k FROM r"), most("SELECT r.k FROM r, explode((SELECT array_agg(r.k) FROM r)) AS e")
    (1, 2)
    """
    counted = root.ref_count()
    seen = {id(each.expression) for each in root.traverse()}
    selects = root.expression.find_all(exp.Select, exp.SetOperation)
    is_seen = all(id(each) in seen for each in selects)
    return counted if is_seen else {each: count + 1 for each, count in counted.items()}
