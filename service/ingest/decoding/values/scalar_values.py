"""Converts a JSON value to a value of a column's type: exactly, or not at all."""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from uuid import UUID

from service.ingest.decoding.values.sent_types import MIDNIGHTS
from service.model.calendar import day_of, moment_of
from service.model.tables.schemas import VARIANT

Convert = Callable[[object], object]
"""Returns the value for Arrow, or raises ValueError, with a reason, when it does not fit."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:[0-5]\d)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32}")
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LARGEST_FLOAT = 3.4028234663852886e38
_SINGLE = struct.Struct("f")


def scalar_values(type_name: str) -> Convert | None:
    """Returns a converter for a primitive type in Iceberg's spelling; None when JSON cannot represent it.

    >>> scalar_values("decimal(5, 2)")("12.5")
    Decimal('12.50')
    >>> scalar_values("int")(3_000_000_000)
    Traceback (most recent call last):
    ValueError: 3000000000 is out of the range of int
    """
    if match := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", type_name):
        return _decimal(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"fixed\[(\d+)\]", type_name):
        return _fixed(int(match[1]))
    return _SIMPLE.get(type_name)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is not a boolean")
    return value


def _integer(type_name: str, bits: int) -> Convert:
    bound = 1 << (bits - 1)

    def convert(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{_shown(value)} is not of type {type_name}")
        if not -bound <= value < bound:
            raise ValueError(f"{value} is out of the range of {type_name}")
        return value

    return convert


def _floating(type_name: str, largest: float, as_written: Callable[[float], float]) -> Convert:
    """Returns a converter that rounds fractions to the nearest double, and that to the column's precision.

    Whole numbers must be exact. Only zero becomes zero.
    """

    def convert(value: object) -> float:
        if isinstance(value, str) and value in _NOT_FINITE:
            return _NOT_FINITE[value]
        if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
            raise ValueError(f"{_shown(value)} is not of type {type_name}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isinf(number) or abs(number) > largest:
            raise ValueError(f"{_shown(value)} is out of the range of {type_name}")
        written = as_written(number)
        if isinstance(value, int) and int(written) != value:
            raise ValueError(f"{value} cannot be represented exactly as {type_name}")
        if value and not written:
            raise ValueError(f"{_shown(value)} would be zero in {type_name}")
        return number

    return convert


def _single(number: float) -> float:
    (written,) = _SINGLE.unpack(_SINGLE.pack(number))
    return float(written)


def _decimal(precision: int, scale: int) -> Convert:
    unit, exactly = Decimal(1).scaleb(-scale), Context(prec=precision, Emax=MAX_EMAX, Emin=MIN_EMIN)

    def convert(value: object) -> Decimal:
        number = _as_decimal(value)
        if number is None or not number.is_finite():
            raise ValueError(f"{_shown(value)} is not a decimal number")
        whole, fraction = _digits(number)
        if fraction > scale or whole > precision - scale:
            raise ValueError(f"{_shown(value)} does not fit decimal({precision}, {scale})")
        # Arrow counts trailing zeros as digits.
        return number.quantize(unit, context=exactly)

    return convert


def _digits(number: Decimal) -> tuple[int, int]:
    """Returns how many digits are before and after the point, without zeros at either end."""
    _, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    significant = text.rstrip("0")
    place = int(exponent) + len(text) - len(significant)
    return (max(0, len(significant) + place), max(0, -place)) if significant else (0, 0)


def _as_decimal(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        # Python would also accept spaces and underscores.
        return None
    try:
        # Numbers that a float cannot express with the digits that were sent are not floats here
        # (`exact_number`).
        return Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is not a string")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            # JSON can spell it ("\\ud800"), but no file can hold it.
            raise ValueError(f"{_shown(value)} has half of a character") from None
    return value


def _date(value: object) -> date:
    _check_years(value, day_of)
    text = _matching(value, _DATE, "a date such as 2026-01-31")
    return date.fromisoformat(text)


def _midnight(value: object) -> datetime:
    return datetime.combine(_date(value), time.min)


def _time(value: object) -> time:
    return time.fromisoformat(_matching(value, _TIME, "a time such as 13:45:00.5"))


def _timestamp(value: object) -> datetime:
    moment = _moment(value)
    if moment.tzinfo is not None:
        raise ValueError(f"{_shown(value)} has a time zone, and the column has none")
    return moment


def _timestamptz(value: object) -> datetime:
    moment = _moment(value)
    if moment.tzinfo is None:
        raise ValueError(f"{_shown(value)} has no time zone: add Z, or an offset such as +02:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{_shown(value)} is out of the range of timestamptz") from error


def _moment(value: object) -> datetime:
    _check_years(value, moment_of)
    return datetime.fromisoformat(_matching(value, _MOMENT, "a moment such as 2026-01-31T13:45:00.5Z"))


def _check_years(value: object, read: Callable[[str], object]) -> None:
    """Rejects a year with a sign, which is valid but out of range for every column."""
    if isinstance(value, str) and value.startswith(("+", "-")) and _is_read(value, read):
        raise ValueError(f"{_shown(value)} lies outside of the years 1 to 9999")


def _is_read(text: str, read: Callable[[str], object]) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _matching(value: object, pattern: re.Pattern[str], what: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{_shown(value)} is not {what}")
    return value


def uuid_bytes(value: object) -> bytes:
    """Returns the 16 bytes of a UUID in text, with hyphens or without.

    Raises:
        ValueError: it is something else.
    """
    # Python accepts much else: spaces, underscores, digits of any alphabet.
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise ValueError(f"{_shown(value)} is not a UUID")
    return UUID(value).bytes


def _binary(value: object) -> bytes:
    try:
        return base64.b64decode(_string(value), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{_shown(value)} is not base64") from error


def _variant(_value: object) -> object:
    raise ValueError("a column of the type variant takes the rest of records alone: name it as `rest`")


def _fixed(length: int) -> Convert:
    def convert(value: object) -> bytes:
        found = _binary(value)
        if len(found) != length:
            raise ValueError(f"{_shown(value)} has {len(found)} bytes, not {length}")
        return found

    return convert


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


_SIMPLE: Mapping[str, Convert] = {
    "boolean": _boolean,
    "int": _integer("int", 32),
    "long": _integer("long", 64),
    "float": _floating("float", _LARGEST_FLOAT, _single),
    "double": _floating("double", math.inf, float),
    "string": _string,
    "date": _date,
    MIDNIGHTS: _midnight,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "uuid": uuid_bytes,
    "binary": _binary,
    VARIANT: _variant,
}
