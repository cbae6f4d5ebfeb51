"""Reads columns of JSON with Arrow at once, with exactly the values of conversion one by one.

Arrow reads only values that JSON spells in one way. All others are read as text, which must have the form
that the converters of `scalar_values` require. Where this is not certain, `Doubt` is raised, and the rows are
converted one by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from service.ingest.decoding.values.arrow_types import arrow_field
from service.ingest.decoding.values.scalar_values import Convert, scalar_values
from service.ingest.decoding.values.sent_types import MIDNIGHTS
from service.model.tables.schemas import Field, Primitive

Finish = Callable[[pa.Array], pa.Array]
"""A function from Arrow's array to the column; raises Doubt, or Arrow's own errors."""


class Doubt(Exception):
    """The rows must be converted one by one."""


@dataclass(frozen=True, slots=True)
class FastColumn:
    """The type to read with, and the conversion that remains after reading."""

    read_as: pa.DataType
    finish: Finish


# From here on, a whole number may have been rounded to a double; this is not checked.
_EXACT_DOUBLE = 2.0**53
# The same for single precision, and half of its least number, which becomes zero.
_EXACT_SINGLE, _ZERO_SINGLE = 2.0**24, 2.0**-150
# Arrow may change numbers with more digits, or with digits far after the point (`has_far_digits`).
_SURE_DIGITS = 15
_MOST_DIGITS = 38
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_AS_THEY_ARE = ("boolean", "int", "long", "string")
_NUMBERS = ("float", "double")
# Python handles years before 1000, and the first and last moments that it supports.
_DATE = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_PATTERNS = {
    "date": f"^{_DATE}$",
    MIDNIGHTS: f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "timestamp": f"^{_DATE}[T ]{_TIME}$",
    "timestamptz": f"^{_DATE}[T ]{_TIME}(Z|[+-][0-9]{{2}}:[0-5][0-9])$",
}
_FIRST = datetime(1000, 1, 2)
_LAST = datetime(9999, 12, 30)


def fast_column(field: Field) -> FastColumn | None:
    """Returns how this column is read at once; None if it cannot be."""
    if not isinstance(field.type, Primitive):
        return None
    found = _column(field.type.name, arrow_field(field).type)
    if found is None or not field.is_required:
        return found
    return FastColumn(found.read_as, lambda array: _without_nulls(found.finish(array)))


def _column(name: str, kind: pa.DataType) -> FastColumn | None:
    if name in _AS_THEY_ARE:
        return FastColumn(kind, lambda array: array)
    if decimal := _DECIMAL.fullmatch(name):
        precision, scale = int(decimal[1]), int(decimal[2])
        read_as = kind if precision <= _SURE_DIGITS else pa.string()
        return FastColumn(read_as, lambda array: _decimals(array, precision, scale))
    if name in _NUMBERS:
        # All of them are checked together (`check_floating`).
        return FastColumn(pa.float64(), lambda array: _cast(array, kind))
    if name in _PATTERNS:
        return FastColumn(pa.string(), lambda array: _within(_matching(array, _PATTERNS[name]).cast(kind)))
    convert = scalar_values(name)
    return (
        None if convert is None else FastColumn(pa.string(), lambda array: _one_by_one(array, convert, kind))
    )


def _without_nulls(array: pa.Array) -> pa.Array:
    if array.null_count:
        raise Doubt
    return array


@dataclass(frozen=True, slots=True)
class Zeros:
    """The signs that zeros may have; the spelling of a zero decides its value."""

    has_negative: bool
    has_positive: bool


def check_floating(columns: Sequence[tuple[pa.DataType, pa.Array]]) -> Zeros:
    """Checks that all numbers except zeros are those that conversion one by one gives.

    Each column is as Arrow has read it, with the type that it will have.

    Raises:
        Doubt: a number may differ.
    """
    values = _together([array for _, array in columns])
    if _reaches(values, _EXACT_DOUBLE):
        raise Doubt
    singles = [array for kind, array in columns if kind == pa.float32()]
    if singles:
        _check_singles(values if len(singles) == len(columns) else _together(singles))
    # Only zero, or a number that is nearly zero, has an infinite inverse.
    found = pc.min_max(pc.divide(1.0, values))
    return Zeros(found["min"].as_py() == -math.inf, found["max"].as_py() == math.inf)


def _together(arrays: Sequence[pa.Array]) -> pa.Array:
    return pa.concat_arrays([_cast(array, pa.float64()) for array in arrays])


def _reaches(values: pa.Array, bound: float) -> bool:
    # NaN compares as False with every number.
    return bool(pc.all(pc.less(pc.abs(values), bound)).as_py() is False)


def _check_singles(values: pa.Array) -> None:
    sizes = pc.abs(values)
    is_zero_then = pc.and_(pc.less_equal(sizes, _ZERO_SINGLE), pc.not_equal(sizes, 0.0))
    if _reaches(values, _EXACT_SINGLE) or pc.any(is_zero_then).as_py():
        raise Doubt


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    # A cast to the same type takes time too.
    return array if array.type == kind else array.cast(kind)


def _decimals(array: pa.Array, precision: int, scale: int) -> pa.Array:
    # Arrow checks neither the precision of the numbers, nor whether 128 bits can hold their digits, as
    # written or at this scale.
    if pa.types.is_string(array.type):
        too_long = f"[eE]|^[^.]{{{_MOST_DIGITS - scale + 1},}}|([0-9]\\.?){{{_MOST_DIGITS + 1}}}"
        if pc.any(pc.match_substring_regex(array, too_long)).as_py():
            raise Doubt
    values = array.cast(pa.decimal128(precision, scale))
    found = pc.min_max(values)
    bound = Decimal(10) ** (precision - scale)
    if found["max"].is_valid and not -bound < found["min"].as_py() <= found["max"].as_py() < bound:
        raise Doubt
    return values


def _matching(array: pa.Array, pattern: str) -> pa.Array:
    if pc.all(pc.match_substring_regex(array, pattern)).as_py() is False:
        raise Doubt
    return array


def _within(values: pa.Array) -> pa.Array:
    if not pa.types.is_timestamp(values.type):
        return values
    found = pc.min_max(values)
    zone = None if values.type.tz is None else UTC
    first, last = _FIRST.replace(tzinfo=zone), _LAST.replace(tzinfo=zone)
    if found["max"].is_valid and not first <= found["min"].as_py() <= found["max"].as_py() <= last:
        raise Doubt
    return values


def _one_by_one(array: pa.Array, convert: Convert, kind: pa.DataType) -> pa.Array:
    try:
        return pa.array([None if value is None else convert(value) for value in array.to_pylist()], kind)
    except ValueError:
        raise Doubt from None
