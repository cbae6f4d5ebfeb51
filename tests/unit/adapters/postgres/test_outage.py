"""A store that goes away is retried for a while; errors that would repeat are not retried."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import exc
from sqlalchemy.exc import DBAPIError, OperationalError

from service.adapters.postgres.shared.outage import Outage
from service.errors.unavailable import MetricsStoreDown
from tests.fakes.clock import FakeClock

WAIT_S = 10


class Asked:
    """Fails with the given error a number of times, and takes the given time for each call."""

    def __init__(self, clock: FakeClock, failure: Exception, times: int, takes_s: float = 0) -> None:
        self.count = 0
        self._clock, self._failure, self._times, self._takes_s = clock, failure, times, takes_s

    def __call__(self) -> str:
        self.count += 1
        self._clock.advance(timedelta(seconds=self._takes_s))
        if self.count <= self._times:
            raise MetricsStoreDown from self._failure
        return "answer"


def lost(text: str = "server closed the connection unexpectedly") -> DBAPIError:
    return OperationalError("SELECT", {}, psycopg.OperationalError(text), connection_invalidated=True)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def outage(clock: FakeClock) -> Outage:
    return Outage(WAIT_S, clock, sleep_on(clock))


def sleep_on(clock: FakeClock) -> Callable[[float], None]:
    return lambda seconds: clock.advance(timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "failure",
    [
        lost(),
        OperationalError("SELECT", {}, psycopg.OperationalError("connection refused")),
        OperationalError("SELECT", {}, psycopg.errors.AdminShutdown()),
        OperationalError("SELECT", {}, psycopg.errors.CannotConnectNow()),
        DBAPIError("INSERT", {}, psycopg.errors.ReadOnlySqlTransaction()),
    ],
)
def test_one_that_went_away_is_asked_until_it_answers(
    outage: Outage, clock: FakeClock, failure: Exception
) -> None:
    asked = Asked(clock, failure, times=7)
    assert outage.outlast(asked) == "answer"
    assert asked.count == 8


@pytest.mark.parametrize(
    "failure",
    [
        DBAPIError("INSERT", {}, psycopg.errors.UndefinedTable()),
        OperationalError("SELECT", {}, psycopg.errors.QueryCanceled()),
        exc.TimeoutError("no connection is free"),
    ],
)
def test_what_will_be_the_same_next_time_is_not_asked_again(
    outage: Outage, clock: FakeClock, failure: Exception
) -> None:
    asked = Asked(clock, failure, times=1)
    with pytest.raises(MetricsStoreDown):
        outage.outlast(asked)
    assert asked.count == 1


def test_after_a_while_every_call_fails_at_once_until_one_succeeds(outage: Outage, clock: FakeClock) -> None:
    first = Asked(clock, lost(), times=1_000)
    with pytest.raises(MetricsStoreDown):
        outage.outlast(first)
    assert WAIT_S * 1000 <= clock.elapsed_ms() < WAIT_S * 1000 + 500
    later = Asked(clock, lost(), times=1_000)
    with pytest.raises(MetricsStoreDown):
        outage.outlast(later)
    assert later.count == 1
    assert outage.outlast(Asked(clock, lost(), times=0)) == "answer"
    assert outage.outlast(Asked(clock, lost(), times=3)) == "answer"


def test_an_outage_that_nobody_asked_through_to_its_end_is_over(outage: Outage, clock: FakeClock) -> None:
    with pytest.raises(MetricsStoreDown):
        outage.outlast(Asked(clock, lost(), times=1_000))
    clock.advance(timedelta(hours=1))
    assert outage.outlast(Asked(clock, lost(), times=3)) == "answer"


def test_without_patience_nothing_is_asked_twice(clock: FakeClock) -> None:
    asked = Asked(clock, lost(), times=1)
    with pytest.raises(MetricsStoreDown):
        Outage(0, clock, sleep_on(clock)).outlast(asked)
    assert asked.count == 1
