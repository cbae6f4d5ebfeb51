"""How each aggregate is kept and merged, by the types of its values, so that a merge is exact."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.model.query.refresh import (
    AggregateCall,
    Average,
    Guard,
    NotRefreshable,
    Partial,
    RefreshOutcome,
)
from service.pruning.aggregation.distinct_counts import distinct_count

_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_NARROW = frozenset({"TINYINT", "SMALLINT", "INT"})
INTEGERS = _NARROW | {"BIGINT"}
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
ORDERED = INTEGERS | {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "STRING", "BOOLEAN", "BINARY"}
_OF_ALL_TYPES = {
    # A bitmap always has 4,096 bytes, so bitmaps of bitmaps are those of all rows.
    "bitmap_and_agg": "bitmap_and_agg({0})",
    "bitmap_construct_agg": "bitmap_or_agg({0})",
    "bitmap_or_agg": "bitmap_or_agg({0})",
    "count": "coalesce(sum({0}), 0L)",
    "count_if": "coalesce(sum({0}), 0L)",
}
"""How aggregates are merged that are kept as they are, whatever their values are."""
LONG = 2**63 - 1
EXACT_DOUBLES = 2**53
"""Sums of integers up to this are exact as doubles, in any order."""
WIDEST = 38
MAX_CHECKED_PRECISION = 28
"""The sum of a decimal of so many digits has ten more, so ten billion rows cannot overflow it."""
MAX_DOUBLE_DIGITS = 15
"""Spark averages decimals of up to eleven digits, and so results of up to fifteen, as doubles.

Source: `DecimalAggregates` in Spark's optimizer.
"""


@dataclass(frozen=True, slots=True)
class KeptAggregates:
    """Which aggregates may be kept.

    With `merges_floats`, sums of floating-point numbers are merged, although another order of the same
    numbers may round in another way. `max_register_bytes` bounds the registers of one
    `approx_count_distinct` in one group.
    """

    merges_floats: bool = False
    max_register_bytes: int = 16 << 10


EXACT = KeptAggregates()


def is_key_type(type_name: str) -> bool:
    """Whether two values of the type are the same key exactly if they are the same bytes."""
    return type_name in ORDERED or _DECIMAL.fullmatch(type_name) is not None


def partial_of(
    call: AggregateCall, number: int, argument_type: str, result_type: str, kept: KeptAggregates = EXACT
) -> Partial:
    """Returns how the aggregate with this number is kept.

    Raises:
        NotRefreshable: its merge would not be exact.
    """
    if call.name in _OF_ALL_TYPES:
        return _own(call, number, _OF_ALL_TYPES[call.name])
    if call.name == "approx_count_distinct":
        return distinct_count(call, number, kept.max_register_bytes)
    if argument_type in _FLOATS:
        if not kept.merges_floats:
            raise NotRefreshable(RefreshOutcome.FLOATING_POINT)
        return _floating(call, number)
    if call.name == "sum":
        return _sum(call, number, argument_type, result_type)
    if call.name in ("avg", "mean"):
        return _average(call, number, argument_type, result_type)
    if not is_key_type(argument_type) or argument_type != result_type:
        raise NotRefreshable(RefreshOutcome.TYPE)
    return _own(call, number)


def _floating(call: AggregateCall, number: int) -> Partial:
    if call.name in ("sum", "min", "max"):
        return _own(call, number)
    if call.name not in ("avg", "mean"):
        raise NotRefreshable(RefreshOutcome.TYPE)
    total, count = f"__a{number}", f"__c{number}"
    quotient = f"(sum({total}) / CAST(nullif(sum({count}), 0L) AS DOUBLE))"
    columns = ((total, call.over("sum", call.argument)), (count, call.over("count", call.argument)))
    return Partial(columns, quotient, ((total, f"sum({total})"), (count, f"coalesce(sum({count}), 0L)")))


def _own(call: AggregateCall, number: int, merged: str = "") -> Partial:
    name = f"__a{number}"
    text = (merged or f"{call.name}({{0}})").format(name)
    return Partial(((name, call.text),), text, ((name, text),))


def _sum(call: AggregateCall, number: int, argument_type: str, result_type: str) -> Partial:
    name = f"__a{number}"
    decimal = _DECIMAL.fullmatch(argument_type)
    if argument_type not in INTEGERS and decimal is None:
        raise NotRefreshable(RefreshOutcome.TYPE)
    merged = f"CAST(sum({name}) AS {result_type})"
    guards = _guards(call, number, argument_type)
    return Partial(((name, call.text), *guards[0]), merged, ((name, merged), *guards[1]), guards=guards[2])


_Guards = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...], tuple[Guard, ...]]


def _guards(call: AggregateCall, number: int, argument_type: str, limit: int | None = None) -> _Guards:
    """Returns a column of what the values are together without their signs, if their sum may overflow."""
    decimal = _DECIMAL.fullmatch(argument_type)
    name = f"__b{number}"
    if decimal is None:
        if limit is None and argument_type in _NARROW:
            return (), (), ()
        bound, wide, result = limit or LONG, "DECIMAL(20,0)", "DECIMAL(30,0)"
    else:
        precision, scale = map(int, decimal.groups())
        if limit is None and precision <= MAX_CHECKED_PRECISION:
            return (), (), ()
        digits = min(precision + 10, WIDEST)
        bound = (10**digits - 1 if limit is None else limit) // 10**scale
        wide, result = argument_type, f"DECIMAL({digits},{scale})"
    absolute = call.over("sum", f"abs(CAST({call.argument} AS {wide}))")
    return (
        ((name, absolute),),
        ((name, f"CAST(sum({name}) AS {result})"),),
        (Guard(name, bound),),
    )


def _average(call: AggregateCall, number: int, argument_type: str, result_type: str) -> Partial:
    decimal = _DECIMAL.fullmatch(argument_type)
    total, count = f"__a{number}", f"__c{number}"
    counted = f"CAST(nullif(sum({count}), 0L) AS {{0}})"
    counts = ((count, call.over("count", call.argument)), (count, f"coalesce(sum({count}), 0L)"))
    if decimal is None:
        if argument_type not in INTEGERS or result_type != "DOUBLE":
            raise NotRefreshable(RefreshOutcome.TYPE)
        kept, scale, width = f"CAST({call.argument} AS DECIMAL(20,0))", 0, 30
    else:
        precision, scale = map(int, decimal.groups())
        kept, width = call.argument, min(precision + 10, WIDEST)
    renewed = f"CAST(sum({total}) AS DECIMAL({width},{scale}))"
    is_double = decimal is None or int(decimal[1]) + 4 <= MAX_DOUBLE_DIGITS
    guards = _guards(call, number, argument_type, EXACT_DOUBLES if is_double else None)
    columns = ((total, call.over("sum", kept)), counts[0], *guards[0])
    renewal = ((total, renewed), counts[1], *guards[1])
    if not is_double:
        found = _DECIMAL.fullmatch(result_type)
        if found is None:
            raise NotRefreshable(RefreshOutcome.TYPE)
        average = Average(total, count, scale, int(found[1]), int(found[2]))
        quotient = f"CAST({_widened(total, scale)} / {counted.format('DECIMAL(20,0)')} AS {result_type})"
        return Partial(columns, quotient, renewal, guards=guards[2], average=average)
    unscaled = f"CAST({renewed} * {10**scale} AS DOUBLE)" if scale else f"CAST({renewed} AS DOUBLE)"
    quotient = f"{unscaled} / {counted.format('DOUBLE')}"
    if decimal is not None:
        quotient = f"CAST(({quotient}) / {10**scale}.0D AS {result_type})"
    return Partial(columns, f"({quotient})", renewal, guards=guards[2])


WIDTH = "\x00width:{0}\x00"


def _widened(total: str, scale: int) -> str:
    # A sum of fewer digits leaves more of them to the quotient: see `averaged`.
    return f"CAST(sum({total}) AS DECIMAL({WIDTH.format(total)},{scale}))"


def averaged(merged: str, average: Average, greatest_sum: int, greatest_count: int) -> str:
    """Returns the merge of an average, whose sums and counts have at most these values.

    Spark rounds an average once, and a quotient in SQL first to as many digits as fit beside the sum. The
    second rounding gives the same if the first keeps more digits than the count has: a quotient is then
    never nearer to the middle of two results than the first rounding can move it.

    Raises:
        NotRefreshable: there is no room for these digits.
    """
    width = min(WIDEST, max(len(str(greatest_sum)) + 1, average.scale + 1))
    integral = width - average.scale
    kept = min(average.scale + 21, WIDEST - integral)
    if kept - average.result_scale < len(str(greatest_count)) + 1:
        raise NotRefreshable(RefreshOutcome.MAY_OVERFLOW)
    return merged.replace(WIDTH.format(average.sum_column), str(width))
