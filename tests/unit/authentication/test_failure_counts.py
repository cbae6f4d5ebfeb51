from __future__ import annotations

from datetime import timedelta

from service.authentication.failure_counts import FailureCounts
from tests.fakes.clock import FakeClock


def test_failures_are_forgotten_evenly_over_a_minute() -> None:
    clock = FakeClock()
    counts = FailureCounts(clock, at_most=6)
    for _ in range(6):
        assert counts.wait_s("a") == 0
        counts.add("a")
    assert counts.wait_s("a") == 10
    assert counts.wait_s("b") == 0
    clock.advance(timedelta(seconds=10))
    assert counts.wait_s("a") == 0
    counts.add("a")
    assert counts.wait_s("a") == 10
    clock.advance(timedelta(minutes=2))
    assert counts.wait_s("a") == 0


def test_a_success_takes_its_attempt_back() -> None:
    counts = FailureCounts(FakeClock(), at_most=1)
    for _ in range(3):
        counts.add("a")
        assert counts.wait_s("a") == 60
        counts.forgive("a")
        assert counts.wait_s("a") == 0
    counts.forgive("a")
    counts.add("a")
    assert counts.wait_s("a") == 60


def test_whoever_goes_on_waits_no_longer_than_two_shares() -> None:
    counts = FailureCounts(FakeClock(), at_most=6)
    for _ in range(10_000):
        counts.add("a")
    assert counts.wait_s("a") == 20


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    counts = FailureCounts(FakeClock(), at_most=1, max_counted=100)
    for number in range(101):
        counts.add(str(number))
    assert counts.wait_s("0") == 0
    assert counts.wait_s("100") > 0
