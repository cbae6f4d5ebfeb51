"""Intervals as ISO 8601 durations."""

from __future__ import annotations

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def duration_text(ticks: int, unit: str) -> str:
    """Spells a day-time interval in whole days, hours, minutes and seconds.

    >>> duration_text(93_784_500, "ms")
    'P1DT2H3M4.5S'
    >>> duration_text(-1, "us")
    '-PT0.000001S'
    """
    days, in_day = divmod(abs(ticks), 86_400 * _PER_SECOND[unit])
    text = _text([(days, "D")], in_day, _PER_SECOND[unit])
    return f"-{text}" if ticks < 0 else text


def interval_text(months: int, days: int, nanoseconds: int) -> str:
    """Spells a calendar interval. Years are split off the months; the other units are not mixed.

    >>> interval_text(14, 3, 4_500_000_000)
    'P1Y2M3DT4.5S'
    """
    if max(months, days, nanoseconds) <= 0 and min(months, days, nanoseconds) < 0:
        return f"-{interval_text(-months, -days, -nanoseconds)}"
    sign = -1 if months < 0 else 1
    years, rest = divmod(abs(months), 12)
    return _text([(sign * years, "Y"), (sign * rest, "M"), (days, "D")], nanoseconds, _PER_SECOND["ns"])


def _text(date_parts: list[tuple[int, str]], ticks: int, per_second: int) -> str:
    sign = "-" if ticks < 0 else ""
    seconds, fraction = divmod(abs(ticks), per_second)
    digits = str(fraction).zfill(len(str(per_second)) - 1).rstrip("0") if fraction else ""
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    time = [f"{sign}{count}{unit}" for count, unit in ((hours, "H"), (minute, "M")) if count]
    if second or digits:
        time.append(f"{sign}{second}{'.' + digits if digits else ''}S")
    date = "".join(f"{count}{unit}" for count, unit in date_parts if count)
    if not date and not time:
        return "PT0S"
    return f"P{date}" + (f"T{''.join(time)}" if time else "")
