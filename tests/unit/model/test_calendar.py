"""Dates and timestamps of every year, written and read again."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model.calendar import FIRST_DAY, LAST_DAY, PER_SECOND, date_text, day_of, moment_of, moment_text

EPOCH = date(1970, 1, 1)
DAYS = st.integers(-(2**31), 2**31 - 1)
TICKS = st.integers(-(2**63), 2**63 - 1)
UNITS = st.sampled_from(list(PER_SECOND))

# These are the results of Spark's own CAST(... AS STRING).
SPARKS_DAYS = [
    (11_248_738, "+32768-01-01"),
    (2_932_897, "+10000-01-01"),
    (2_932_896, "9999-12-31"),
    (-719_162, "0001-01-01"),
    (-719_163, "0000-12-31"),
    (-719_529, "-0001-12-31"),
    (2**31 - 1, "+5881580-07-11"),
    (-(2**31), "-5877641-06-23"),
]
SPARKS_MOMENTS = [
    (1_700_000_000_000 * 10**6, "+55840-11-08T22:13:20"),
    (-1_700_000_000_000 * 10**6, "-51901-02-22T01:46:40"),
    (2**63 - 1, "+294247-01-10T04:00:54.775807"),
    (-(2**63), "-290308-12-21T19:59:05.224192"),
]


@pytest.mark.parametrize(("days", "text"), SPARKS_DAYS)
def test_a_day_is_written_as_spark_writes_it(days: int, text: str) -> None:
    assert date_text(days) == text


@pytest.mark.parametrize(("microseconds", "text"), SPARKS_MOMENTS)
def test_a_moment_is_written_as_spark_writes_it(microseconds: int, text: str) -> None:
    assert moment_text(microseconds, "us", is_utc=False) == text
    assert moment_text(microseconds, "us", is_utc=True) == text + "+00:00"


@given(st.integers(FIRST_DAY, LAST_DAY))
def test_a_day_that_python_has_is_written_as_python_writes_it(days: int) -> None:
    assert date_text(days) == (EPOCH + timedelta(days=days)).isoformat()


@given(st.integers(FIRST_DAY * 86_400 * 10**6, (LAST_DAY + 1) * 86_400 * 10**6 - 1))
def test_a_moment_that_python_has_is_written_as_python_writes_it(microseconds: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    assert moment_text(microseconds, "us", is_utc=True) == moment.isoformat()


@given(DAYS)
def test_every_day_is_read_as_it_was_written(days: int) -> None:
    assert day_of(date_text(days)) == days


@given(TICKS, UNITS, st.booleans())
def test_every_moment_is_read_as_it_was_written(ticks: int, unit: str, is_utc: bool) -> None:
    nanoseconds = ticks * (PER_SECOND["ns"] // PER_SECOND[unit])
    assert moment_of(moment_text(ticks, unit, is_utc)) == (nanoseconds, is_utc)


@given(DAYS)
def test_one_day_follows_another(days: int) -> None:
    year, month, day = date_text(days).rsplit("-", 2)
    after = date_text(days + 1).rsplit("-", 2)
    assert (after[:2] == [year, month] and int(after[2]) == int(day) + 1) or after[2] == "01"


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1890-01-01T00:53:28+00:53:28", -80 * 365 * 86_400 * 10**9 - 19 * 86_400 * 10**9),
        ("1970-01-01T00:00-01:30", 5_400 * 10**9),
        ("1970-01-01 00:00:00.000000001Z", 1),
    ],
)
def test_an_offset_may_have_seconds(text: str, nanoseconds: int) -> None:
    assert moment_of(text) == (nanoseconds, True)


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "2023-13-01", "2023-00-10", "2023-01-00", "10000-01-01", "+123-01-01", "", "2023-1-1"],
)
def test_what_is_no_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"calendar|8601"):
        day_of(text)


@pytest.mark.parametrize("text", ["2023-01-01T24:00", "2023-01-01", "2023-01-01T00:60", "+12345-02-30T00:00"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"calendar|8601"):
        moment_of(text)
