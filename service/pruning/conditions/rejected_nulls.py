"""Null-rejecting conditions: for which relations do they drop the NULLs that an outer join fills in?"""

from __future__ import annotations

from sqlglot import exp

from service.model.filters.joins import relations_in
from service.pruning.conditions.is_safe_to_render import is_safe_to_render

# NULL if one of their sides is.
_OF_NULL = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul)
# NULL if their first part is.
_OF_NULL_FIRST = (exp.Between, exp.Cast, exp.ILike, exp.Like, exp.Neg, exp.Paren, exp.RegexpLike)

NONE: frozenset[str] = frozenset()


def null_rejecting_columns(condition: exp.Expr) -> frozenset[str]:
    """Returns the relations whose NULLs the condition rejects: with NULL in all their columns, it fails.

    A condition that is not safe to render, or not known here (functions, CASE, `<=>`), rejects nothing: it
    might be true of NULLs.

    >>> from sqlglot import parse_one
    >>> def rejected(condition):
    ...     return sorted(null_rejecting_columns(parse_one(condition, read="spark")))
    >>> rejected("a.x = b.y + 1"), rejected("a.x IS NOT NULL AND b.y LIKE 'x%'")
    (['a', 'b'], ['a', 'b'])
    >>> rejected("a.x = 1 OR a.y = 2"), rejected("a.x = 1 OR b.y = 2"), rejected("NOT a.x = 1")
    (['a'], [], ['a'])
    >>> rejected("a.x IS NULL"), rejected("coalesce(a.x, 1) = 1"), rejected("a.x <=> b.y")
    ([], [], [])
    """
    return _rejected(condition) if relations_in(condition) and is_safe_to_render(condition) else NONE


def _rejected(condition: exp.Expr) -> frozenset[str]:
    condition = condition.unnest()
    match condition:
        case exp.And():
            return _rejected(condition.left) | _rejected(condition.right)
        case exp.Or():
            return _rejected(condition.left) & _rejected(condition.right)
        case exp.Not() if _is_null_test(condition.this.unnest()):
            return _null_with(condition.this.unnest().this)
        case exp.In():
            # IN an empty list is FALSE, not NULL, so IN with a subquery says nothing under NOT.
            return _null_with(condition.this)
        case _:
            return _null_with(condition)


def _is_null_test(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null)


def _null_with(expression: exp.Expr) -> frozenset[str]:
    """Returns the relations whose NULLs make the expression NULL."""
    match expression:
        case exp.Column():
            return frozenset([expression.table])
        case exp.In() if expression.args.get("query") is None:
            return _null_with(expression.this)
        case exp.Not():
            return _null_with(expression.this)
        case _ if isinstance(expression, _OF_NULL):
            return _null_with(expression.left) | _null_with(expression.right)
        case _ if isinstance(expression, _OF_NULL_FIRST):
            return _null_with(expression.this)
        case _:
            return NONE
