"""Days as ranges of their moments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from service.model.filters.dynamic_filter import KeySpan
from service.model.filters.key_set import KeyRange

_DAY = timedelta(days=1)
_MOMENT = timedelta(microseconds=1)
# No time zone is further from UTC. In a zone other than UTC, a day may begin twice, or not at all.
_FARTHEST = timedelta(hours=18)


def day_ranges(days: Sequence[KeyRange], span: KeySpan, type_name: str) -> list[KeyRange]:
    """Returns the moments of these days, from the first to the last of each; ranges that touch become one.

    >>> from datetime import date
    >>> [(low, high)] = day_ranges([(date(2000, 2, 28), date(2000, 2, 29))], KeySpan.DAY, "timestamp")
    >>> str(low), str(high)
    ('2000-02-28 00:00:00', '2000-02-29 23:59:59.999999')
    """
    zone = UTC if type_name == "timestamptz" else None
    margin = _FARTHEST if span is KeySpan.DAY_ANYWHERE else timedelta()
    found: list[Any] = []
    for first, last in days:
        low, high = _moved(first, -margin, zone), _moved(last, _DAY - _MOMENT + margin, zone)
        if found and low - found[-1][1] <= _MOMENT:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


def has_clipped(ranges: Sequence[KeyRange]) -> bool:
    """Whether a range ends at Python's first or last moment, so that some moments of the engine are missing.

    >>> from datetime import date
    >>> days = [(date(9999, 12, 31), date(9999, 12, 31))]
    >>> has_clipped(day_ranges(days, KeySpan.DAY_ANYWHERE, "timestamptz"))
    True
    """
    ends = (moment for pair in ranges for moment in pair if isinstance(moment, datetime))
    return any(end.replace(tzinfo=None) in (datetime.min, datetime.max) for end in ends)


def _moved(day: Any, by: timedelta, zone: tzinfo | None) -> datetime:
    """Returns midnight of the day plus `by`, or Python's first or last moment if that is out of range."""
    assert isinstance(day, date)
    midnight = datetime.combine(day, time(), zone)
    try:
        return midnight + by
    except OverflowError:
        return (datetime.min if by < timedelta() else datetime.max).replace(tzinfo=zone)
