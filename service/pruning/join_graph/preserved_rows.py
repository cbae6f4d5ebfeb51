"""Whether a query's rows with other keys stay the same if rows with some keys are removed below it."""

from __future__ import annotations

from sqlglot import exp

_NUMBERS_ROWS = "monotonically_increasing_id"
# The parts that parentheses around a SELECT may have without a change to its rows.
_AROUND = ("this", "alias", "order")


def lets_filters_through(expression: exp.Expr) -> bool:
    """Whether the query has no clause, in itself or around it, that chooses among all of its rows."""
    if expression.args.get("limit") or expression.args.get("offset") or expression.args.get("sample"):
        return False
    outer = expression.parent
    while isinstance(outer, exp.Subquery):
        # A LIMIT, a sample or a join that follows the parentheses applies to the rows inside.
        if any(value for key, value in outer.args.items() if key not in _AROUND):
            return False
        outer = outer.parent
    if isinstance(expression, exp.Union):
        if expression.args.get("by_name"):
            # Columns are matched by their positions here.
            return False
        return all(lets_filters_through(query.unnest()) for query in (expression.left, expression.right))
    return isinstance(expression, exp.Select)


def preserves_rows_of(select: exp.Expr, *keys: exp.Expr) -> bool:
    """Whether the output for the other keys stays the same when all input rows of some keys are removed.

    `keys` are the column, and the cast of it if that keeps distinct values distinct.
    """
    if any(anonymous.name.lower() == _NUMBERS_ROWS for anonymous in select.find_all(exp.Anonymous)):
        return False
    group = select.args.get("group")
    if group is not None:
        if any(value for key, value in group.args.items() if key != "expressions"):
            return False
        if not any(_selected(expression.unnest(), select) in keys for expression in group.expressions):
            return False
    elif any(
        _is_of(aggregate, select)
        for aggregate in select.find_all(exp.AggFunc)
        if aggregate.find_ancestor(exp.Window) is None
    ):
        return False
    windows = [window for window in select.find_all(exp.Window) if _is_of(window, select)]
    return all(any(key in window.args.get("partition_by", ()) for key in keys) for window in windows)


def _selected(key: exp.Expr, select: exp.Expr) -> exp.Expr:
    """Returns what a GROUP BY key stands for: a name that no relation has is an alias of the SELECT list."""
    if not isinstance(key, exp.Column) or key.table or not isinstance(select, exp.Select):
        return key
    return next(
        (projection.unalias().unnest() for projection in select.selects if projection.alias == key.name), key
    )


def _is_of(node: exp.Expr, select: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select) is select
