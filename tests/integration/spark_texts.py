"""Converts the gateway's answers to the texts of Spark's own `CAST(… AS STRING)`; and values to compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as some

Value = Any
_MICROS = 1_000_000
_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?")
_PERIOD = re.compile(r"P(-?\d+)Y(-?\d+)M")


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: its SQL name, generated values, their SQL literals, and Spark's text of an answer's value."""

    sql_type: str
    values: some.SearchStrategy[Value]
    literal: Callable[[Value], str]
    text: Callable[[Any], str]
    is_key: bool = True
    has_null: bool = True


def at_edges(first: int, last: int, *edges: int) -> some.SearchStrategy[int]:
    """Generates numbers of the whole range, and as many close to its ends, to zero and to the edges."""
    close = [edge + step for edge in (first, last, 0, *edges) for step in (-1, 0, 1)]
    return some.integers(first, last) | some.sampled_from(
        [number for number in close if first <= number <= last]
    )


# These are around the years 1, 0, 9999, 10000, ±32767 and the change of calendars.
DAYS = at_edges(-(2**31), 2**31 - 1, -719_162, -719_528, 2_932_897, 11_248_738, -12_687_795, -141_428)
MOMENTS = at_edges(
    -(2**63),
    2**63 - 1,
    *(day * 86_400 * _MICROS for day in (-719_162, -719_528, 2_932_897, 11_248_738, -12_687_795)),
    1_700_000_000_000 * _MICROS,
)


def long(number: int) -> str:
    """Returns a BIGINT literal that Spark can parse, including the least one."""
    return f"{number}L"


def moment_text(value: str) -> str:
    """Returns Spark's text: a blank instead of the T, no trailing zeros in the fraction, and no offset."""
    day, _, time = value.removesuffix("+00:00").partition("T")
    return f"{day} {time.rstrip('0').rstrip('.') if '.' in time else time}"


def day_time_literal(micros: int) -> str:
    """Builds an interval of parts with the same sign, so that no partial sum is out of range."""
    sign = -1 if micros < 0 else 1
    days, rest = divmod(abs(micros), 86_400 * _MICROS)
    seconds, fraction = divmod(rest, _MICROS)
    whole = f"{'-' if sign < 0 else ''}{seconds}.{fraction:06}"
    return f"make_dt_interval({sign * days}, 0, 0, CAST('{whole}' AS DECIMAL(18, 6)))"


def day_time_text(value: str) -> str:
    """Converts `-P1DT2H3M4.5S` to `INTERVAL '-1 02:03:04.5' DAY TO SECOND`."""
    sign, days, hours, minutes, seconds, fraction = parts_of(value)
    part = f".{fraction.rstrip('0')}" if fraction else ""
    return f"INTERVAL '{sign}{days} {hours:02}:{minutes:02}:{seconds:02}{part}' DAY TO SECOND"


def days_text(value: str) -> str:
    """Converts `-P1D` to `INTERVAL '-1' DAY`."""
    sign, days, *rest = parts_of(value)
    assert not any(rest), value
    return f"INTERVAL '{sign}{days}' DAY"


def hours_text(value: str) -> str:
    """Converts `-P1DT2H3M` to `INTERVAL '-26:03' HOUR TO MINUTE`."""
    sign, days, hours, minutes, seconds, fraction = parts_of(value)
    assert (seconds, fraction) == (0, None), value
    return f"INTERVAL '{sign}{24 * days + hours:02}:{minutes:02}' HOUR TO MINUTE"


def parts_of(value: str) -> tuple[str, int, int, int, int, str | None]:
    """Returns sign, days, hours, minutes, seconds and the digits of their fraction."""
    found = _DURATION.fullmatch(value)
    assert found is not None, value
    sign, *numbers, fraction = found.groups()
    days, hours, minutes, seconds = (int(number or 0) for number in numbers)
    return sign, days, hours, minutes, seconds, fraction


def year_month_text(value: str) -> str:
    """Converts `P-1Y-2M` to `INTERVAL '-1-2' YEAR TO MONTH`."""
    months = months_of(value)
    years, rest = divmod(abs(months), 12)
    return f"INTERVAL '{'-' if months < 0 else ''}{years}-{rest}' YEAR TO MONTH"


def months_of(value: str) -> int:
    """Returns the number of months in `P-1Y-2M`."""
    found = _PERIOD.fullmatch(value)
    assert found is not None, value
    return int(found[1]) * 12 + int(found[2])


def year_month_literal(months: int) -> str:
    """Builds an interval of parts with the same sign."""
    sign = -1 if months < 0 else 1
    return f"make_ym_interval({sign * (abs(months) // 12)}, {sign * (abs(months) % 12)})"


def java_double(value: object) -> str:
    """Writes a double as Java does, if Python finds the same shortest digits."""
    if isinstance(value, str) or not math.isfinite(number := float(value)):  # type: ignore[arg-type]
        return str(value)
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return str(number)
    digits, _, exponent = f"{number:e}".partition("e")
    shortest = repr(number).replace(".", "").lstrip("-0").partition("e")[0].rstrip("0") or "0"
    sign = "-" if digits.startswith("-") else ""
    return f"{sign}{shortest[0]}.{shortest[1:] or '0'}E{int(exponent)}"


def time_text(micros: int) -> str:
    """Returns a time of day as hours, minutes and seconds."""
    seconds, fraction = divmod(micros, _MICROS)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def decimal(precision: int, scale: int) -> Kind:
    """Returns DECIMAL(p, s), whose text has all of its digits."""

    def literal(unscaled: int) -> str:
        digits = f"{abs(unscaled):0{scale + 1}}"
        whole = f"{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}" if scale else digits
        return f"CAST('{'-' if unscaled < 0 else ''}{whole}' AS DECIMAL({precision}, {scale}))"

    bound = 10**precision - 1
    return Kind(f"DECIMAL({precision}, {scale})", at_edges(-bound, bound), literal, str)


def quoted(value: str) -> str:
    """Returns a literal for Spark, in which only backslash and quote are escaped."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


MICROS = at_edges(-(2**63) + 1, 2**63 - 1, 86_400 * _MICROS, -86_400 * _MICROS, 60 * _MICROS, 3600 * _MICROS)
MONTHS = at_edges(-(2**31), 2**31 - 1, 12, -12)
KINDS: dict[str, Kind] = {
    "boolean": Kind("BOOLEAN", some.booleans(), str, lambda value: str(value).lower()),
    "long": Kind("BIGINT", at_edges(-(2**63), 2**63 - 1), long, str),
    "string": Kind("STRING", some.text("ab ,{}[]\"'\\\n🙂é", max_size=5), quoted, str),
    "date": Kind("DATE", DAYS, lambda day: f"date_from_unix_date(CAST({long(day)} AS INT))", str),
    "timestamp": Kind("TIMESTAMP", MOMENTS, lambda at: f"timestamp_micros({long(at)})", moment_text),
    "timestamp_ntz": Kind(
        "TIMESTAMP_NTZ",
        MOMENTS,
        lambda at: f"CAST(timestamp_micros({long(at)}) AS TIMESTAMP_NTZ)",
        moment_text,
    ),
    "day_time": Kind(
        "INTERVAL DAY TO SECOND",
        MICROS,
        day_time_literal,
        day_time_text,
    ),
    "year_month": Kind(
        "INTERVAL YEAR TO MONTH",
        MONTHS,
        year_month_literal,
        year_month_text,
    ),
    "decimal_38_0": decimal(38, 0),
    "decimal_38_38": decimal(38, 38),
    "decimal_7_2": decimal(7, 2),
    "double": Kind(
        "DOUBLE",
        some.sampled_from(["0.1", "-0.0", "2.5", "-1e10", "1.5e300", "NaN", "Infinity", "-Infinity", "1e-5"]),
        lambda value: f"CAST('{value}' AS DOUBLE)",
        java_double,
        is_key=False,
    ),
    "time": Kind(
        "TIME",
        at_edges(0, 86_400 * _MICROS - 1, 3600 * _MICROS),
        lambda micros: f"TIME'{time_text(micros)}'",
        str,
        has_null=False,
    ),
    "days": Kind(
        "INTERVAL DAY",
        MICROS,
        lambda micros: f"CAST({day_time_literal(micros)} AS INTERVAL DAY)",
        days_text,
    ),
    "hours": Kind(
        "INTERVAL HOUR TO MINUTE",
        MICROS,
        lambda micros: f"CAST({day_time_literal(micros)} AS INTERVAL HOUR TO MINUTE)",
        hours_text,
    ),
    "months": Kind(
        "INTERVAL MONTH",
        MONTHS,
        lambda months: f"CAST({year_month_literal(months)} AS INTERVAL MONTH)",
        lambda value: f"INTERVAL '{months_of(value)}' MONTH",
    ),
    "years": Kind(
        "INTERVAL YEAR",
        MONTHS,
        lambda months: f"CAST({year_month_literal(months)} AS INTERVAL YEAR)",
        lambda value: f"INTERVAL '{int(months_of(value) / 12)}' YEAR",
    ),
}
WHOLE_TEXTS = frozenset({"year_month", "months", "years"})
"""Kinds without an Arrow type. A value that contains one is answered as Spark's text of the whole value."""
