"""Types of keys: which compare by value, exactly, and which values a type can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from service.model.filters.key_set import Key, KeyRange, KeyValue

_INTEGERS = {"int": 31, "long": 63}
_EXACT = ("date", "string", "boolean", "timestamp", "timestamptz")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_DIGITS = {"int": 10, "long": 20}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,37}", re.ASCII)
_FAR_YEAR = re.compile(r"[+-]|0000|\d{5}", re.ASCII)
_MAX_DIGITS = 38
# Every number of these types has far fewer digits, so nothing is rounded by accident.
_EXACTLY = Context(prec=100)


def key_family(type_name: str) -> str | None:
    """Returns the family whose types compare exactly, value by value; None when a type must not be a key.

    Floating-point types must not: for a predicate `k = 0.0`, Iceberg skips a file that holds -0.0.

    >>> key_family("int") == key_family("long"), key_family("double")
    (True, None)
    """
    if type_name in _INTEGERS:
        return "integer"
    if type_name in _EXACT or type_name.startswith("decimal("):
        return type_name
    return None


def digits_of(type_name: str) -> tuple[int, int] | None:
    """Returns a number's digits before and after the point, as the engine counts; None: not an exact number.

    >>> digits_of("decimal(7, 2)"), digits_of("int"), digits_of("double")
    ((5, 2), (10, 0), None)
    """
    if type_name in _DIGITS:
        return _DIGITS[type_name], 0
    found = _DECIMAL.fullmatch(type_name)
    return None if found is None else (int(found[1]) - int(found[2]), int(found[2]))


def are_compared_exactly(type_name: str, other: str) -> bool:
    """Returns whether two types of numbers have a common type that holds every value of both.

    >>> are_compared_exactly("long", "decimal(9, 2)"), are_compared_exactly("long", "decimal(38, 30)")
    (True, False)
    """
    digits, others = digits_of(type_name), digits_of(other)
    if digits is None or others is None:
        return False
    return max(digits[0], others[0]) + max(digits[1], others[1]) <= _MAX_DIGITS


def fits_type(type_name: str, value: object) -> bool:
    """Returns whether a value of the type's family is a value of the type.

    >>> fits_type("int", 2**31), fits_type("long", 2**31)
    (False, True)
    """
    bits = _INTEGERS.get(type_name)
    return bits is None or (isinstance(value, int) and -(2**bits) <= value < 2**bits)


def converted(type_name: str, value: KeyValue) -> KeyValue | None:
    """Returns the same value as one of the type; None when the type has no equal value.

    >>> converted("int", Decimal("7.00")), converted("int", Decimal("7.50")), converted("int", 2**31)
    (7, None, None)
    """
    if isinstance(value, int) and type_name in _INTEGERS:
        return value if fits_type(type_name, value) else None
    ends = converted_range(type_name, (value, value))
    return None if ends is None else ends[0]


def are_of_types(type_names: Sequence[str], keys: Sequence[Key]) -> bool:
    """Returns whether each value of several keys is one of its column's type, so `converted` changes none.

    It takes a tenth of the time of converting them. It may be False of keys that have all of these types.

    >>> are_of_types(["int", "string"], [(7, "a"), (8, "b")]), are_of_types(["int", "string"], [(2**31, "a")])
    (True, False)
    """
    return all(map(_are_of_type, type_names, zip(*keys, strict=True)))


def _are_of_type(type_name: str, values: Sequence[Any]) -> bool:
    kinds = set(map(type, values))
    if kinds == {int}:
        return type_name in _INTEGERS and all(fits_type(type_name, end) for end in (min(values), max(values)))
    return kinds.isdisjoint((int, Decimal))


def converted_range(type_name: str, ends: KeyRange) -> KeyRange | None:
    """Returns the range of the type's values that lie between the two; None when there is none.

    >>> converted_range("int", (Decimal("1.5"), Decimal("3000000000")))
    (2, 2147483647)
    """
    low: Any
    high: Any
    low, high = ends
    if not (_is_number(low) and _is_number(high)):
        return ends
    limits = _limits(type_name)
    if limits is None:
        return ends
    low, high = max(_rounded(type_name, low, up=True), limits[0]), min(_rounded(type_name, high), limits[1])
    return (low, high) if low <= high else None


def spelled_value(type_name: str, value: KeyValue) -> KeyValue | None:
    """Returns the type's value that the engine writes as this text, or casts to this moment; None if none.

    Raises:
        ValueError: the engine may have such a value, but Python has not.

    >>> spelled_value("int", "7"), spelled_value("int", "007"), spelled_value("long", "x")
    (7, None, None)
    >>> spelled_value("date", "2026-01-31"), spelled_value("date", datetime(2026, 1, 31, 7))
    (datetime.date(2026, 1, 31), None)
    """
    if isinstance(value, str) and type_name == "date":
        if _FAR_YEAR.match(value):
            raise ValueError(value)
        return date.fromisoformat(value) if _is_day(value) else None
    if isinstance(value, str):
        return converted(type_name, int(value)) if _WHOLE.fullmatch(value) else None
    if isinstance(value, datetime) and type_name == "date":
        moment = value if value.tzinfo is None else value.astimezone(UTC)
        return moment.date() if moment.time() == time() else None
    return converted(type_name, value)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def size_in_arrow(keys: Iterable[Key]) -> int:
    """Returns about how many bytes the keys take in Arrow; whole numbers count as the longer type.

    >>> size_in_arrow([(1, "été")])
    17
    """
    return sum(_size(value) for key in keys for value in key)


def _size(value: KeyValue) -> int:
    match value:
        case str():
            return 4 + len(value.encode())
        case Decimal():
            return 16
        case _:
            return 8


def _is_number(value: KeyValue) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _limits(type_name: str) -> tuple[Any, Any] | None:
    if bits := _INTEGERS.get(type_name):
        return -(2**bits), 2**bits - 1
    digits = digits_of(type_name)
    if digits is None:
        return None
    largest = Decimal(10 ** (digits[0] + digits[1]) - 1).scaleb(-digits[1], _EXACTLY)
    return -largest, largest


def _rounded(type_name: str, value: int | Decimal, up: bool = False) -> KeyValue:
    if type_name in _INTEGERS:
        return math.ceil(value) if up else math.floor(value)
    digits = digits_of(type_name)
    assert digits is not None
    step = Decimal(1).scaleb(-digits[1])
    return Decimal(value).quantize(step, ROUND_CEILING if up else ROUND_FLOOR, _EXACTLY)
