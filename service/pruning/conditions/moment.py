"""Which moment does a literal name?"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.(?P<fraction>[0-9]{1,6}))?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_UTC_NAMES = frozenset({"UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "+00:00"})
# Java has no larger offset.
_LARGEST_OFFSET = timedelta(hours=18)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(text: str, zone: str | None) -> int | None:
    """Returns milliseconds since 1970 in UTC, rounded down; None if the engine may read the text otherwise.

    A text without a zone is read in `zone`. It has no result if clocks there show that time twice or never.

    >>> moment("1970-01-01 00:00:01.0019Z", None), moment("1970-01-02", "UTC"), moment("1970-01-02", None)
    (1001, 86400000, None)
    >>> moment("1980-01-01T01:00:00+01:00", None) == moment("1980-01-01 01:00:00", "Europe/Zurich")
    True
    >>> moment("2024-03-31 02:30:00", "Europe/Zurich"), moment("2024-10-27 02:30:00", "Europe/Zurich")
    (None, None)
    >>> moment("tomorrow", "UTC"), moment("1970-01-02", "Middle/Earth")
    (None, None)
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    fraction = (match["fraction"] or "").ljust(6, "0")
    try:
        local = datetime.fromisoformat(f"{match['day']}T{match['time'] or '00:00:00'}.{fraction}")
        known = _offset(match["zone"]) if match["zone"] else _zone(zone)
    except (KeyError, OSError, ValueError):  # not a day, or the name of no zone
        return None
    if known is None or not 1970 <= local.year < 9999:
        return None
    first, second = (local.replace(tzinfo=known, fold=fold) for fold in (0, 1))
    if first.utcoffset() != second.utcoffset():
        return None
    return (first - _EPOCH) // timedelta(milliseconds=1)


def _offset(written: str) -> tzinfo | None:
    if written == "Z":
        return UTC
    hours, minutes = int(written[1:3]), int(written[4:])
    offset = timedelta(hours=hours, minutes=minutes)
    if minutes > 59 or offset > _LARGEST_OFFSET:
        return None
    return timezone(-offset if written[0] == "-" else offset)


def _zone(name: str | None) -> tzinfo | None:
    if name in _UTC_NAMES:
        return UTC
    # Short names mean other zones to Java than to the time zone database.
    return ZoneInfo(name) if name and "/" in name else None
