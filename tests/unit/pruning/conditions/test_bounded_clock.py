from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from itertools import pairwise

import pytest
from sqlglot import exp, parse_one

from service.pruning.conditions.bounded_clock import bounded_clock

DAYS = [date(2023, 1, 1) + timedelta(days=number) for number in range(2 * 366)]


@pytest.mark.parametrize("months", [-13, -12, -3, -2, -1, 1, 2, 3, 11, 12, 13])
def test_midnights_some_months_away_bound_every_moment_of_the_days(months: int) -> None:
    """The last days of a month all map to the last day of a shorter month."""
    condition = parse_one(f"now() + INTERVAL '{months}' MONTH BETWEEN d.since AND d.until", read="spark")
    for today, tomorrow in pairwise(DAYS):
        bounded = bounded_clock(condition, (today, tomorrow))
        latest, earliest = (date.fromisoformat(cast.this.name) for cast in bounded.find_all(exp.Cast))
        moved = [_moved(day, months) for day in (today, tomorrow)]
        assert _moved(earliest, months) <= moved[0]
        assert moved[1] + timedelta(days=1) <= _moved(latest, months)


def _moved(day: date, months: int) -> date:
    """Adds months as engines do: to the same day, or to the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
