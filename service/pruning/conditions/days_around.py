"""Which day will it be when a query runs?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo


def days_around(now: datetime, session: Mapping[str, str]) -> tuple[date, ...]:
    """Returns today in the session's time zone, and tomorrow; no days if the zone is not known here.

    >>> from datetime import UTC
    >>> days_around(datetime(2000, 2, 28, 23, 30, tzinfo=UTC), {"timeZone": "Europe/Zurich"})
    (datetime.date(2000, 2, 29), datetime.date(2000, 3, 1))
    >>> days_around(datetime(2000, 2, 28, tzinfo=UTC), {"timeZone": "GMT+2"})
    ()
    """
    zone = session.get("spark.sql.session.timeZone", session.get("timeZone", ""))
    try:
        today = now.astimezone(ZoneInfo(zone)).date()
    except (KeyError, OSError, ValueError):  # not a name, or the name of no zone
        return ()
    return today, today + timedelta(days=1)
