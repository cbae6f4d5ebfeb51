"""Days and moments as ISO 8601 texts, for every year that 32 bits of days or 64 bits of a unit reach.

The calendar is the proleptic Gregorian one, as in Spark: there is a year 0, years before it are negative, and
years after 9999 have a sign. Source: `java.time.format.DateTimeFormatter.ISO_LOCAL_DATE`, with which Spark
writes days.
"""

from __future__ import annotations

import re

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
DAY_SECONDS = 86_400
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The first and the last day that Python and Arrow can write, of the years 1 and 9999."""
_DAY = r"(?P<year>[+-]\d{4,12}|\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
_TIME = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(:(?P<second>[0-5]\d)(\.(?P<fraction>\d{1,9}))?)?"
_OFFSET = r"(?P<offset>Z|(?P<sign>[+-])(?P<hours>\d{2}):(?P<minutes>[0-5]\d)(:(?P<seconds>[0-5]\d))?)?"
_ONLY_DAY = re.compile(_DAY, re.ASCII)
_MOMENT = re.compile(f"{_DAY}[T ]{_TIME}{_OFFSET}", re.ASCII)
_ERA_DAYS = 146_097
_EPOCH_IN_ERA = 719_468


def date_text(days: int) -> str:
    """Returns the day that is this many days after 1970-01-01.

    >>> date_text(0), date_text(11_248_738), date_text(-719_529)
    ('1970-01-01', '+32768-01-01', '-0001-12-31')
    """
    year, month, day = _civil(days)
    return f"{_year_text(year)}-{month:02}-{day:02}"


def moment_text(ticks: int, unit: str, is_utc: bool) -> str:
    """Returns the moment this many units after 1970-01-01T00:00:00, with the offset of UTC if `is_utc`.

    The fraction has all digits of its unit, or is omitted if it is zero. In nanoseconds, it has six digits if
    the last three are zero.

    >>> moment_text(1_700_000_000_000, "s", is_utc=True), moment_text(-1, "us", is_utc=False)
    ('+55840-11-08T22:13:20+00:00', '1969-12-31T23:59:59.999999')
    """
    seconds, fraction = divmod(ticks, PER_SECOND[unit])
    days, in_day = divmod(seconds, DAY_SECONDS)
    width = len(str(PER_SECOND[unit])) - 1
    if unit == "ns" and fraction % 1_000 == 0:
        fraction, width = fraction // 1_000, 6
    hour, minute, second = in_day // 3600, in_day // 60 % 60, in_day % 60
    part = f".{fraction:0{width}}" if fraction else ""
    return f"{date_text(days)}T{hour:02}:{minute:02}:{second:02}{part}{'+00:00' if is_utc else ''}"


def day_of(text: str) -> int:
    """Returns the day that `date_text` writes so, as days after 1970-01-01.

    >>> day_of("+32768-01-01"), day_of("-0001-12-31")
    (11248738, -719529)

    Raises:
        ValueError: the text is not a day.
    """
    return _day(_ONLY_DAY.fullmatch(text))


def moment_of(text: str) -> tuple[int, bool]:
    """Returns nanoseconds after 1970-01-01T00:00:00, and whether the text has an offset; if so, in UTC.

    >>> moment_of("+55840-11-08T22:13:20+00:00")
    (1700000000000000000000, True)

    Raises:
        ValueError: the text is not a moment.
    """
    found = _MOMENT.fullmatch(text)
    days = _day(found)
    assert found is not None
    hour, minute, second = (int(found[unit] or 0) for unit in ("hour", "minute", "second"))
    seconds = days * DAY_SECONDS + hour * 3600 + minute * 60 + second - _offset_seconds(found)
    fraction = int((found["fraction"] or "").ljust(9, "0"))
    return seconds * PER_SECOND["ns"] + fraction, found["offset"] is not None


def _offset_seconds(found: re.Match[str]) -> int:
    if found["sign"] is None:
        return 0
    hours, minutes, seconds = (int(found[unit] or 0) for unit in ("hours", "minutes", "seconds"))
    total = hours * 3600 + minutes * 60 + seconds
    return -total if found["sign"] == "-" else total


def _day(found: re.Match[str] | None) -> int:
    if found is None:
        raise ValueError("not in ISO 8601")
    year, month, day = (int(found[unit]) for unit in ("year", "month", "day"))
    days = _days(year, month, day) if 1 <= month <= 12 else 0
    if _civil(days) != (year, month, day):
        raise ValueError("no day of the calendar")
    return days


def _days(year: int, month: int, day: int) -> int:
    """Returns the inverse of `_civil`; a day past the month's end counts on into the next month."""
    era, years = divmod(year - (month <= 2), 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * _ERA_DAYS + years * 365 + years // 4 - years // 100 + of_year - _EPOCH_IN_ERA


def _year_text(year: int) -> str:
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}"


def _civil(days: int) -> tuple[int, int, int]:
    """Returns year, month and day; the calendar repeats every 400 years, from a first of March.

    Source: H. Hinnant, chrono-compatible low-level date algorithms, `civil_from_days`.
    """
    era, of_era = divmod(days + _EPOCH_IN_ERA, _ERA_DAYS)
    years = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + years + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1
