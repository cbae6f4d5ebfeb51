"""The normal form of the conditions on one table, and what one has beyond another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlglot import exp

from service.model.filters.key_selection import ColumnSet, KeySelection, LiteralValue
from service.pruning.containment.column_sets import at_least, at_most, both, has_all

ValueOf = Callable[[exp.Column, exp.Expr], LiteralValue | None]
"""Returns the literal as a value of exactly the column's type; None if that is not certain."""

_NOT_NULL = ColumnSet()
_MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
# sqlglot stores NOT in some nodes and SYMMETRIC in others: ignoring a part would change the meaning.
_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
}
_USUAL_PARTS = frozenset({"this", "expression"})


def key_selection(
    condition: exp.Expr | None,
    is_known: Callable[[exp.Column], bool],
    value_of: ValueOf,
    text_of: Callable[[exp.Expr], str],
) -> KeySelection:
    """Returns the normal form of a condition.

    The order of conditions and of lists does not matter in it, nor how a range is written. `is_known` returns
    whether a column's NULLs and values are understood.
    """
    columns: dict[str, ColumnSet] = {}
    rest: set[str] = set()
    for conjunct in () if condition is None else conjuncts(condition):
        found = _column_set(conjunct, is_known, value_of)
        if found is None:
            rest.add(text_of(conjunct))
            continue
        column, values = found
        name = column.name.lower()
        columns[name] = both(columns[name], values) if name in columns else values
    return KeySelection(columns, frozenset(rest))


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the conditions that AND joins, without the parentheses around them."""
    condition = condition.unnest()
    if not isinstance(condition, exp.And):
        yield condition
        return
    # A tree of thousands of conditions is as deep, and this walks through it in a loop.
    for part in condition.flatten():
        yield from conjuncts(part)


def residual(selection: KeySelection, wide: KeySelection) -> Mapping[str, ColumnSet] | None:
    """Returns the conditions that single out the selected rows among those of the wide selection.

    None: the wide selection is not certain to have all of the rows, or a text has to be evaluated for it.

    >>> year = KeySelection({"year": ColumnSet(values=frozenset({2001}))})
    >>> march = KeySelection({**year.columns, "month": ColumnSet(values=frozenset({3}))})
    >>> residual(march, year)
    {'month': ColumnSet(low=None, high=None, values=frozenset({3}), is_null=False)}
    >>> residual(year, march)
    """
    if selection.rest != wide.rest or not wide.columns.keys() <= selection.columns.keys():
        return None
    if not all(has_all(values, selection.columns[name]) for name, values in wide.columns.items()):
        return None
    return {name: values for name, values in selection.columns.items() if wide.columns.get(name) != values}


def _column_set(
    condition: exp.Expr, is_known: Callable[[exp.Column], bool], value_of: ValueOf
) -> tuple[exp.Column, ColumnSet] | None:
    if not _has_only_known_parts(condition):
        return None
    match condition:
        case exp.Not():
            of_null = condition.this.unnest()
            is_of_null = isinstance(of_null, exp.Is) and isinstance(of_null.expression, exp.Null)
            column = of_null.this.unnest() if is_of_null and _has_only_known_parts(of_null) else None
            return _if_known(column, _NOT_NULL, is_known)
        case exp.Is():
            column = condition.this.unnest() if isinstance(condition.expression, exp.Null) else None
            return _if_known(column, ColumnSet(is_null=True), is_known)
        case exp.Between():
            return _between(condition, value_of)
        case exp.In():
            return _listed(condition.this.unnest(), condition.expressions, value_of)
        case exp.EQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _compared(condition, value_of)
        case _:
            return None


def _if_known(
    column: exp.Expr | None, values: ColumnSet, is_known: Callable[[exp.Column], bool]
) -> tuple[exp.Column, ColumnSet] | None:
    return (column, values) if isinstance(column, exp.Column) and is_known(column) else None


def _between(condition: exp.Between, value_of: ValueOf) -> tuple[exp.Column, ColumnSet] | None:
    column = condition.this.unnest()
    if not isinstance(column, exp.Column):
        return None
    low, high = (value_of(column, condition.args[end]) for end in ("low", "high"))
    if low is None or high is None:
        return None
    return column, both(at_least(low, is_inclusive=True), at_most(high, is_inclusive=True))


def _listed(
    column: exp.Expr, listed: Iterable[exp.Expr], value_of: ValueOf
) -> tuple[exp.Column, ColumnSet] | None:
    if not isinstance(column, exp.Column):
        return None
    values = frozenset(value_of(column, literal) for literal in listed)
    # A list with NULL may be NULL, and a subquery has no list.
    known = frozenset(value for value in values if value is not None)
    return (column, ColumnSet(values=known)) if known and len(known) == len(values) else None


def _compared(condition: exp.Expr, value_of: ValueOf) -> tuple[exp.Column, ColumnSet] | None:
    column, literal, kind = condition.this.unnest(), condition.expression.unnest(), type(condition)
    if not isinstance(column, exp.Column):
        column, literal, kind = literal, column, _MIRRORED[kind]
    if not isinstance(column, exp.Column):
        return None
    value = value_of(column, literal)
    if value is None:
        return None
    if kind is exp.EQ:
        return column, ColumnSet(values=frozenset({value}))
    is_inclusive = kind in (exp.LTE, exp.GTE)
    is_lower = kind in (exp.GT, exp.GTE)
    return column, (at_least if is_lower else at_most)(value, is_inclusive=is_inclusive)


def _has_only_known_parts(node: exp.Expr) -> bool:
    known = _PARTS.get(type(node), _USUAL_PARTS)
    return all(key in known for key, value in node.args.items() if value)
