"""Are a SELECT's rows chosen by more than conditions that can be queried by themselves?"""

from __future__ import annotations

from sqlglot import exp

from service.model.filters.joins import relations_in
from service.pruning.conditions.is_safe_to_render import is_safe_to_render

_CHOOSING = (exp.Having, exp.Limit, exp.Fetch, exp.Offset, exp.Qualify, exp.TableSample)


def is_chosen_otherwise(query: exp.Expr) -> bool:
    """Whether a query, or what it reads, has a HAVING, a LIMIT, a sample, or a condition unsafe to render.

    >>> from sqlglot import parse_one
    >>> texts = ["d.x = 1", "rand() < 0.5", "d.x = 1 GROUP BY d.k HAVING max(d.y) > 2"]
    >>> [is_chosen_otherwise(parse_one(f"SELECT d.k FROM d WHERE {text}", read="spark")) for text in texts]
    [False, True, True]
    """
    outer = query.parent
    is_sampled = isinstance(outer, exp.Subquery) and outer.args.get("sample") is not None
    return is_sampled or any(
        isinstance(node, _CHOOSING) or (isinstance(node, exp.Where) and _has_unfaithful(node.this))
        for node in query.walk()
    )


def _has_unfaithful(condition: exp.Expr) -> bool:
    parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
    return any(len(relations_in(part)) <= 1 and not is_safe_to_render(part) for part in parts)
