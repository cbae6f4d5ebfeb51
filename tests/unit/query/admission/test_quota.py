"""A budget that comes back at a steady rate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.query.admission.quota import Quota

AMOUNTS = st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 4_000)), max_size=20)


@given(limit=st.integers(1, 10_000), period_ms=st.integers(1, 100_000), used=AMOUNTS)
def test_the_time_that_it_promises_is_the_first_at_which_some_is_left(
    limit: int, period_ms: int, used: list[tuple[int, int]]
) -> None:
    quota, now_ms = Quota(limit, period_ms), 0
    for amount, later_ms in used:
        quota.use(amount, now_ms)
        now_ms += later_ms
    wait_ms = quota.wait_ms(now_ms)
    assert (wait_ms > 0) == quota.is_exhausted(now_ms)
    assert not quota.is_exhausted(now_ms + wait_ms + 1)
    # A millisecond of floating point is allowed for.
    assert wait_ms <= 1 or quota.is_exhausted(now_ms + wait_ms - 2)


@given(limit=st.integers(1, 10_000), period_ms=st.integers(1, 100_000), used=AMOUNTS)
def test_over_any_time_no_more_begins_than_the_limit_and_what_has_come_back(
    limit: int, period_ms: int, used: list[tuple[int, int]]
) -> None:
    quota, now_ms, taken = Quota(limit, period_ms), 0, 0
    for amount, later_ms in used:
        if not quota.is_exhausted(now_ms):
            assert taken <= limit + now_ms * limit / period_ms + 1e-6
            quota.use(amount, now_ms)
            taken += amount
        now_ms += later_ms


def test_a_clock_that_stands_still_gives_nothing_back() -> None:
    quota = Quota(10, 1000)
    quota.use(10, 500)
    assert quota.is_exhausted(500)
    assert quota.is_exhausted(400)


def test_more_is_never_given_back_than_was_used() -> None:
    quota = Quota(10, 1000)
    quota.use(5, 0)
    quota.use(-50, 0)
    assert quota.used(0) == 0
