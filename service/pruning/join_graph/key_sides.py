"""The two sides of an equality, each of which is a column or an expression over one column."""

from __future__ import annotations

from sqlglot import exp

from service.model.filters.joins import ColumnOf, KeySide


def key_sides(
    condition: exp.Expr, operator: type[exp.EQ | exp.NullSafeEQ] = exp.EQ
) -> tuple[KeySide, KeySide] | None:
    """Returns both sides of an equality between columns of two relations; None for any other condition.

    >>> from sqlglot import parse_one
    >>> left, right = key_sides(parse_one("CAST(f.k AS BIGINT) = d.k", read="spark"))
    >>> left.column, right
    (ColumnOf(relation='f', column='k'), KeySide(column=ColumnOf(relation='d', column='k'), expression=None))
    """
    if not isinstance(condition, operator):
        return None
    left, right = key_side(condition.left), key_side(condition.right)
    if left is None or right is None or left.column.relation == right.column.relation:
        return None
    return left, right


def key_side(expression: exp.Expr) -> KeySide | None:
    """Returns the one column that an expression is computed from; None with several, or with a subquery."""
    expression = expression.unnest()
    if isinstance(expression, exp.Column):
        return KeySide(ColumnOf(expression.table, expression.name), None) if expression.table else None
    columns = {ColumnOf(column.table, column.name) for column in expression.find_all(exp.Column)}
    if len(columns) != 1 or expression.find(exp.Query) is not None:
        return None
    [column] = columns
    return KeySide(column, expression) if column.relation else None
