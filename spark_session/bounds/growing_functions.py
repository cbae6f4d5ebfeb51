"""Functions whose value can be much larger than their arguments: a rule each for the size of the value.

Source: Spark 4.1's function registry, gone through one by one. The other functions return about as much as
they are given, or have bounds of their own in Spark (`hll_sketch_agg`, `approx_top_k`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import ceil, log, log2
from types import MappingProxyType

from service.errors.statement_errors import QueryTooLarge
from spark_session.bounds.arithmetic import as_number
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.bounds.sized import UNKNOWN, Sized, number

Rule = Callable[[str, Sequence[Sized], QueryBounds], Sized]

ELEMENT_BYTES = 8
# A text that is split into characters: each takes objects of the heap.
PART_BYTES = 16.0
MICROS_OF_DAY = 86_400_000_000
# Decimals keep 38 digits and doubles fewer: digits beyond this number are zeros that take memory.
MAX_DIGITS = 400
# The words of its buffer are columns of Spark's plan.
MAX_HLL_WORDS = 10_000
# Steps of a loop that no cancellation ends.
MAX_STEPS = 2_000_000_000
# A separator is written once for each row.
MAX_SEPARATOR_BYTES = 1000
_FORMAT_WIDTH = re.compile(r"[0-9]{4,}")


def _high(arguments: Sequence[Sized], place: int) -> float | None:
    return as_number(arguments[place]).high if place < len(arguments) else None


def _repeat(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    times = _high(arguments, 1)
    if times is None or not arguments:
        return UNKNOWN
    # A column is assumed to hold a text of one character; the analyzed plan has an estimate of its real size.
    width = 1.0 if arguments[0].byte_count is None else arguments[0].known_bytes
    return Sized(byte_count=width * max(times, 0))


def _to_length(place: int) -> Rule:
    """Returns the rule for a text of so many characters, as of `space`, `lpad` and `randstr`."""

    def rule(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
        length = _high(arguments, place)
        return UNKNOWN if length is None else Sized(byte_count=max(length, 0))

    return rule


def _array_repeat(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    count = _high(arguments, 1)
    if count is None:
        return UNKNOWN
    return Sized(
        byte_count=max(count, 0) * max(arguments[0].known_bytes, ELEMENT_BYTES), elements=max(count, 0)
    )


def _array_insert(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    """The places up to the named one are filled with NULL."""
    place = as_number(arguments[1]) if len(arguments) > 1 else UNKNOWN
    if place.high is None or place.low is None:
        return UNKNOWN
    filled = max(place.high, -place.low, 0) + (arguments[0].elements or 0)
    return Sized(byte_count=filled * ELEMENT_BYTES + arguments[0].known_bytes, elements=filled)


def _sequence(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    count = _count(arguments)
    if count is None:
        return UNKNOWN
    return Sized(byte_count=count * ELEMENT_BYTES, elements=count)


def _count(arguments: Sequence[Sized]) -> float | None:
    if len(arguments) < 2:
        return None
    start, stop = arguments[0], arguments[1]
    if start.micros is not None and stop.micros is not None:
        step = arguments[2].micros if len(arguments) > 2 else MICROS_OF_DAY
        return abs(stop.micros - start.micros) / max(abs(step), 1) + 1 if step is not None else None
    start, stop = as_number(start), as_number(stop)
    step_of = as_number(arguments[2]) if len(arguments) > 2 else number(1)
    if start.low is None or start.high is None or stop.low is None or stop.high is None:
        return None
    if step_of.low is None or step_of.high is None:
        return None
    smallest = 1.0 if step_of.low <= 0 <= step_of.high else min(abs(step_of.low), abs(step_of.high))
    return max(stop.high - start.low, start.high - stop.low, 0) / max(smallest, 1e-9) + 1


def _joined(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    """Joins several texts or arrays; of an unknown one, only its known parts count."""
    if all(argument.byte_count is None for argument in arguments):
        return UNKNOWN
    elements = sum(argument.elements or 0 for argument in arguments)
    return Sized(byte_count=sum(argument.known_bytes for argument in arguments), elements=elements)


def _array_join(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    if arguments[0].byte_count is None:
        return UNKNOWN
    glue = arguments[1].known_bytes if len(arguments) > 1 else 0.0
    return Sized(byte_count=arguments[0].known_bytes + (arguments[0].elements or 0) * glue)


def _replaced(name: str, arguments: Sequence[Sized], _: QueryBounds) -> Sized:
    """Each character, or each text that is searched for, may become the new text."""
    if arguments[0].byte_count is None:
        return UNKNOWN
    new = arguments[2].known_bytes if len(arguments) > 2 else 0.0
    found = max(arguments[1].known_bytes, 1.0) if name == "replace" and len(arguments) > 1 else 1.0
    return Sized(byte_count=arguments[0].known_bytes * max(new / found, 1.0) + new)


def _times(factor: float) -> Rule:
    """Returns the rule for `factor` bytes for each byte: `hex`, `base64`, `url_encode`, escapes of JSON."""

    def rule(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
        if not arguments or arguments[0].byte_count is None:
            return UNKNOWN
        return Sized(byte_count=arguments[0].known_bytes * factor, elements=arguments[0].elements)

    return rule


def _mapped(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    """A value for each element of an array or map."""
    many = max((argument.elements or 0 for argument in arguments[:-1]), default=0.0)
    if not many:
        return UNKNOWN
    return Sized(byte_count=many * max(arguments[-1].known_bytes, ELEMENT_BYTES), elements=many)


def _format(name: str, arguments: Sequence[Sized], _: QueryBounds) -> Sized:
    wide = _FORMAT_WIDTH.search(arguments[0].text or "") if arguments else None
    if wide is not None:
        raise QueryTooLarge(f"{name} takes widths of up to 999 characters, not {wide[0][:12]}.")
    # The same argument may occur in it many times: `%1$s%1$s`.
    places = arguments[0].known_bytes / 2 if arguments else 0.0
    return Sized(byte_count=places * max((argument.known_bytes for argument in arguments[1:]), default=0.0))


def _digits(name: str, arguments: Sequence[Sized], _: QueryBounds) -> Sized:
    digits = as_number(arguments[1]) if len(arguments) > 1 else number(0)
    if max(digits.high or 0, -(digits.low or 0)) > MAX_DIGITS:
        raise QueryTooLarge(f"{name} takes up to {MAX_DIGITS} digits, not {digits.high:.0f}.")
    return as_number(arguments[0]) if name != "format_number" and arguments else UNKNOWN


def _stack(name: str, arguments: Sequence[Sized], bounds: QueryBounds) -> Sized:
    rows = _high(arguments, 0)
    if rows is not None and rows > bounds.row_copies:
        raise _too_many_copies(f"{name} would make {rows:,.0f} rows of each", bounds)
    return UNKNOWN


def _window(_: str, arguments: Sequence[Sized], bounds: QueryBounds) -> Sized:
    width = _micros(arguments, 1)
    slide = _micros(arguments, 2) or width
    if width is not None and slide and abs(width / slide) > bounds.row_copies:
        raise _too_many_copies(f"A row would belong to {ceil(abs(width / slide)):,} windows", bounds)
    return UNKNOWN


def _micros(arguments: Sequence[Sized], place: int) -> float | None:
    if place >= len(arguments):
        return None
    return arguments[place].micros if arguments[place].micros is not None else _high(arguments, place)


def _too_many_copies(what: str, bounds: QueryBounds) -> QueryTooLarge:
    return QueryTooLarge(f"{what}; {bounds.row_copies:,} are allowed (setting max_row_copies).")


def _range(_: str, arguments: Sequence[Sized], bounds: QueryBounds) -> Sized:
    slices = _high(arguments, 3)
    if slices is not None and slices > bounds.partitions:
        raise QueryTooLarge(
            f"range would have {slices:,.0f} partitions; {bounds.partitions:,} are allowed "
            "(setting max_partitions)."
        )
    return UNKNOWN


def _count_min(_: str, arguments: Sequence[Sized], __: QueryBounds) -> Sized:
    epsilon, confidence = _low(arguments, 1), _high(arguments, 2)
    if epsilon is None or confidence is None or epsilon <= 0 or not 0 < confidence < 1:
        return UNKNOWN
    return Sized(byte_count=ceil(2 / epsilon) * max(ceil(-log(1 - confidence) / log(2)), 1) * ELEMENT_BYTES)


def _low(arguments: Sequence[Sized], place: int) -> float | None:
    return as_number(arguments[place]).low if place < len(arguments) else None


def _approx_count_distinct(name: str, arguments: Sequence[Sized], _: QueryBounds) -> Sized:
    deviation = _low(arguments, 1)
    if deviation is not None and deviation > 0:
        precision = ceil(2 * log2(1.106 / deviation))
        if 2.0**precision / 10 > MAX_HLL_WORDS:
            raise QueryTooLarge(f"{name} takes a relative deviation of 0.005 or more, not {deviation:g}.")
    return UNKNOWN


def _theta(name: str, arguments: Sequence[Sized], bounds: QueryBounds) -> Sized:
    entries = _high(arguments, 1)
    if entries is not None and 16 * 2.0 ** min(entries, 64) > bounds.value_bytes:
        raise QueryTooLarge(f"{name} would keep 2^{entries:.0f} entries, more than max_value_bytes takes.")
    return UNKNOWN


def _levenshtein(name: str, arguments: Sequence[Sized], _: QueryBounds) -> Sized:
    if len(arguments) > 1 and arguments[0].known_bytes * arguments[1].known_bytes > MAX_STEPS:
        raise QueryTooLarge(f"{name} of texts as long as these takes more than {MAX_STEPS:,} steps.")
    return UNKNOWN


def _list_aggregate(name: str, arguments: Sequence[Sized], _: QueryBounds) -> Sized:
    if len(arguments) > 1 and arguments[1].known_bytes > MAX_SEPARATOR_BYTES:
        raise QueryTooLarge(f"{name} takes a separator of up to {MAX_SEPARATOR_BYTES:,} bytes.")
    return UNKNOWN


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "repeat": _repeat,
        "space": _to_length(0),
        "lpad": _to_length(1),
        "rpad": _to_length(1),
        "randstr": _to_length(0),
        "array_repeat": _array_repeat,
        "array_insert": _array_insert,
        "sequence": _sequence,
        "concat": _joined,
        "concat_ws": _joined,
        "array_join": _array_join,
        "replace": _replaced,
        "regexp_replace": _replaced,
        "translate": _times(4),
        "split": _times(PART_BYTES),
        "str_to_map": _times(PART_BYTES),
        "regexp_extract_all": _times(PART_BYTES),
        "sentences": _times(PART_BYTES),
        "from_json": _times(PART_BYTES),
        "from_csv": _times(PART_BYTES),
        "xpath": _times(PART_BYTES),
        "hex": _times(2),
        "base64": _times(1.4),
        "url_encode": _times(3),
        "to_json": _times(6),
        "transform": _mapped,
        "transform_values": _mapped,
        "transform_keys": _mapped,
        "zip_with": _mapped,
        "map_zip_with": _mapped,
        "format_string": _format,
        "printf": _format,
        "format_number": _digits,
        "round": _digits,
        "bround": _digits,
        "ceil": _digits,
        "ceiling": _digits,
        "floor": _digits,
        "stack": _stack,
        "window": _window,
        "range": _range,
        "count_min_sketch": _count_min,
        "approx_count_distinct": _approx_count_distinct,
        "theta_sketch_agg": _theta,
        "theta_union_agg": _theta,
        "levenshtein": _levenshtein,
        "listagg": _list_aggregate,
        "string_agg": _list_aggregate,
    }
)
