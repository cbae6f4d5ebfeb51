"""Turns the filters of a scan, in Iceberg's JSON, into ranges of values for each column."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial, reduce
from itertools import chain
from typing import Any, TypeAlias

from service.model.query.scan_predicates import PredicateValue, ScanPredicate

MAX_RANGES = 100
"""More ranges of a column are recorded as fewer that are wider."""
MAX_COLUMNS = 50
_PREFIX_END = "\U0010ffff"

# JSON that is not a filter, or numbers and nesting beyond all bounds.
_NOT_UNDERSTOOD = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)

_Value: TypeAlias = PredicateValue | Decimal
_Range: TypeAlias = tuple[_Value | None, _Value | None]
_Ranges: TypeAlias = tuple[_Range, ...]
_Filtered: TypeAlias = dict[str, _Ranges | None]


def scan_predicates(
    filters: Iterable[str | None], decimals: Collection[str] = ()
) -> tuple[ScanPredicate, ...]:
    """Returns what all these filters say about each column, at most the first `MAX_COLUMNS` columns.

    A filter that is None says nothing, and so does any that is not understood. `decimals` are the columns
    whose texts in JSON are numbers.

    >>> year = '{"type": "eq", "term": "d_year", "value": 2000}'
    >>> keys = '{"type": "in", "term": "d_date_sk", "values": [9, 7, 8]}'
    >>> for found in scan_predicates([year, keys]):
    ...     print(found.column, found.ranges)
    d_year ((2000, 2000),)
    d_date_sk ((7, 9),)
    """
    found: _Filtered = {}
    for text in filters:
        # The answer does not need it: no filter may cost a caller the rows.
        with suppress(*_NOT_UNDERSTOOD):
            if text is not None:
                found = _both(found, _filtered(json.loads(text), frozenset(decimals)))
    return tuple(
        ScanPredicate(column, None if ranges is None else tuple(map(_in_record, _fewer(ranges))))
        for column, ranges in list(found.items())[:MAX_COLUMNS]
    )


def _filtered(filter_: Any, decimals: frozenset[str]) -> _Filtered:
    """Returns the ranges that the rows of a filter have; None for a column that it may not restrict."""
    if not isinstance(filter_, Mapping):
        return {}
    match filter_.get("type"):
        case "and":
            return reduce(_both, map(partial(_filtered, decimals=decimals), _parts(filter_, "and")))
        case "or":
            return _any_of([_filtered(part, decimals) for part in _parts(filter_, "or")])
        case "not":
            return dict.fromkeys(_filtered(filter_.get("child"), decimals))
        case "not-null":
            # Spark adds it to most conditions.
            return {}
    column = filter_.get("term")
    return {column: _ranges_of(filter_, column in decimals)} if isinstance(column, str) else {}


def _parts(filter_: Any, type_: str) -> Iterable[Any]:
    """Yields what a chain of one operator combines, from left to right."""
    waiting = [filter_]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping) and part.get("type") == type_:
            waiting += [part.get("right"), part.get("left")]
        else:
            yield part


def _ranges_of(filter_: Mapping[str, Any], is_decimal: bool) -> _Ranges | None:
    values = _values_of(filter_, is_decimal)
    if not values:
        return None
    value = values[0]
    match filter_["type"]:
        case "eq" | "in":
            return _in_order((value, value) for value in values)
        case "lt":
            return ((None, _before(value)),)
        case "lt-eq":
            return ((None, value),)
        case "gt":
            return ((_after(value), None),)
        case "gt-eq":
            return ((value, None),)
        case "starts-with" if isinstance(value, str):
            return ((value, value + _PREFIX_END),)
    return None


def _values_of(filter_: Mapping[str, Any], is_decimal: bool) -> list[_Value]:
    """Returns its values; none if one of them cannot be compared."""
    values = filter_.get("values") if filter_["type"] == "in" else [filter_.get("value")]
    if not isinstance(values, list) or not all(map(_is_value, values)):
        return []
    # Texts have another order: "10.00" comes before "9.00".
    return [Decimal(value) for value in values] if is_decimal else values


def _is_value(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return is_number or isinstance(value, str)


def _before(value: _Value) -> _Value:
    """The greatest value below; the value itself if there is none that is known."""
    if isinstance(value, int):
        return value - 1
    return _next(value, -math.inf) if isinstance(value, float) else value


def _after(value: _Value) -> _Value:
    if isinstance(value, int):
        return value + 1
    return _next(value, math.inf) if isinstance(value, float) else value


def _next(value: float, towards: float) -> float:
    # The metrics store takes no infinity.
    found = math.nextafter(value, towards)
    return found if math.isfinite(found) else value


def _both(one: _Filtered, other: _Filtered) -> _Filtered:
    found = dict(one)
    for column, ranges in other.items():
        known = found.get(column)
        found[column] = ranges if known is None else known if ranges is None else _overlaps(known, ranges)
    return found


def _any_of(parts: Sequence[_Filtered]) -> _Filtered:
    known: dict[str, list[_Ranges]] = {}
    for part in parts:
        for column, ranges in part.items():
            known.setdefault(column, []).extend([] if ranges is None else [ranges])
    return {
        column: _in_order(chain.from_iterable(ranges)) if len(ranges) == len(parts) else None
        for column, ranges in known.items()
    }


def _overlaps(ranges: _Ranges, others: _Ranges) -> _Ranges:
    """Both are in order, and their ranges are apart."""
    found: list[_Range] = []
    place = other_place = 0
    try:
        while place < len(ranges) and other_place < len(others):
            (lower, upper), (other_lower, other_upper) = ranges[place], others[other_place]
            shared = (_greatest(lower, other_lower), _least(upper, other_upper))
            if shared[0] is None or shared[1] is None or shared[0] <= shared[1]:  # type: ignore[operator]
                found.append(shared)
            if other_upper is None or (upper is not None and upper <= other_upper):  # type: ignore[operator]
                place += 1
            else:
                other_place += 1
    except TypeError:
        # The column had another type for one of them.
        return ranges
    return tuple(found)


def _greatest(one: _Value | None, other: _Value | None) -> _Value | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _least(one: _Value | None, other: _Value | None) -> _Value | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _in_order(ranges: Iterable[_Range]) -> _Ranges | None:
    """Sorts ranges, and joins those that overlap; None if their values cannot be compared."""
    try:
        sorted_ranges = sorted(ranges, key=lambda found: (found[0] is not None, found[0]))
        joined: list[_Range] = []
        for lower, upper in sorted_ranges:
            if joined and _touches(joined[-1][1], lower):
                last = joined[-1]
                is_open = last[1] is None or upper is None
                joined[-1] = (last[0], None if is_open else max(last[1], upper))  # type: ignore[type-var]
            else:
                joined.append((lower, upper))
    except TypeError:
        return None
    return tuple(joined)


def _in_record(range_: _Range) -> tuple[PredicateValue | None, PredicateValue | None]:
    lower, upper = (str(value) if isinstance(value, Decimal) else value for value in range_)
    return lower, upper


def _touches(upper: _Value | None, lower: _Value | None) -> bool:
    if upper is None or lower is None or lower <= upper:  # type: ignore[operator]
        return True
    return isinstance(upper, int) and lower == upper + 1


def _fewer(ranges: _Ranges) -> _Ranges:
    """Closes the smallest gaps between numbers, or every second gap between texts, until few are left."""
    while len(ranges) > MAX_RANGES:
        gaps = [(_gap(ranges, place), place) for place in range(len(ranges) - 1)]
        if ranges and isinstance(ranges[1][0], str):
            closed = {place for _, place in gaps[::2]}
        else:
            closed = {place for _, place in sorted(gaps)[: len(ranges) - MAX_RANGES]}
        ranges = tuple(_closed(ranges, closed))
    return ranges


def _gap(ranges: _Ranges, place: int) -> float:
    upper, lower = ranges[place][1], ranges[place + 1][0]
    if isinstance(upper, Decimal) and isinstance(lower, Decimal):
        return float(lower - upper)
    return lower - upper if isinstance(upper, int | float) and isinstance(lower, int | float) else 0.0


def _closed(ranges: Sequence[_Range], closed: set[int]) -> Iterable[_Range]:
    lower = ranges[0][0]
    for place, (_, upper) in enumerate(ranges):
        if place not in closed:
            yield lower, upper
            lower = ranges[place + 1][0] if place + 1 < len(ranges) else None
