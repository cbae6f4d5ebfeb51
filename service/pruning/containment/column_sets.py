"""Sets of values that conditions on one column select: their intersection, and whether one has another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import reduce

from service.model.filters.key_selection import NOTHING, Bound, ColumnSet, LiteralValue

# Within it, the next number is of the same type as the number.
_INTEGERS = 2**31 - 1


def at_least(value: LiteralValue, *, is_inclusive: bool) -> ColumnSet:
    """Returns the values from this one on.

    >>> at_least(4, is_inclusive=False) == at_least(5, is_inclusive=True)
    True
    """
    later = None if is_inclusive else _neighbor(value, 1)
    return ColumnSet(low=Bound(value, is_inclusive) if later is None else Bound(later))


def at_most(value: LiteralValue, *, is_inclusive: bool) -> ColumnSet:
    """Returns the values up to this one.

    >>> at_most(date(2002, 1, 1), is_inclusive=False).high
    Bound(value=datetime.date(2001, 12, 31), is_inclusive=True)
    """
    earlier = None if is_inclusive else _neighbor(value, -1)
    return ColumnSet(high=Bound(value, is_inclusive) if earlier is None else Bound(earlier))


def both(one: ColumnSet, other: ColumnSet) -> ColumnSet:
    """Returns the values that are in both.

    >>> between = both(at_least(3, is_inclusive=True), at_most(7, is_inclusive=True))
    >>> both(between, ColumnSet(values=frozenset({1, 5}))).values
    frozenset({5})
    >>> both(between, ColumnSet(is_null=True)) == NOTHING
    True
    """
    if one.is_null or other.is_null:
        return one if one == other else NOTHING
    low = _tighter(one.low, other.low, _is_higher)
    high = _tighter(one.high, other.high, _is_lower)
    listed = [found.values for found in (one, other) if found.values is not None]
    if not listed:
        return ColumnSet(low, high)
    values = reduce(frozenset.intersection, listed)
    within = ColumnSet(low, high)
    return ColumnSet(values=frozenset(value for value in values if _has_value(within, value)))


def has_all(wide: ColumnSet, other: ColumnSet) -> bool:
    """Whether every value of the other set is certain to be in the wide one, and so is its NULL.

    >>> year = ColumnSet(Bound(date(2001, 1, 1)), Bound(date(2001, 12, 31)))
    >>> march = ColumnSet(Bound(date(2001, 3, 1)), Bound(date(2001, 3, 31)))
    >>> has_all(year, march), has_all(march, year)
    (True, False)
    """
    if other.values is not None:
        return all(_has_value(wide, value) for value in other.values)
    if wide.is_null or other.is_null:
        return wide.is_null and other.is_null
    if wide.values is not None:
        return False
    return _is_within(other.low, wide.low, _is_higher) and _is_within(other.high, wide.high, _is_lower)


def _has_value(wide: ColumnSet, value: LiteralValue) -> bool:
    if wide.is_null:
        return False
    if wide.values is not None:
        return value in wide.values
    alone = Bound(value)
    return _is_within(alone, wide.low, _is_higher) and _is_within(alone, wide.high, _is_lower)


def _tighter(
    one: Bound | None, other: Bound | None, is_tighter: Callable[[Bound, Bound], bool]
) -> Bound | None:
    if one is None or other is None:
        return other if one is None else one
    return one if is_tighter(one, other) else other


def _is_within(one: Bound | None, wide: Bound | None, is_tighter: Callable[[Bound, Bound], bool]) -> bool:
    return wide is None or (one is not None and (one == wide or is_tighter(one, wide)))


def _is_higher(one: Bound, other: Bound) -> bool:
    # The values of a column are of one type.
    if one.value == other.value:
        return other.is_inclusive and not one.is_inclusive
    return one.value > other.value  # type: ignore[operator]


def _is_lower(one: Bound, other: Bound) -> bool:
    if one.value == other.value:
        return other.is_inclusive and not one.is_inclusive
    return one.value < other.value  # type: ignore[operator]


def _neighbor(value: LiteralValue, step: int) -> LiteralValue | None:
    """Returns the next value of a type that has one; None at the ends of the type, or if there is none."""
    match value:
        case bool() | str() | Decimal():
            return None
        case int():
            return value + step if abs(value) < _INTEGERS else None
        case date():
            return None if value in (date.min, date.max) else value + timedelta(days=step)
