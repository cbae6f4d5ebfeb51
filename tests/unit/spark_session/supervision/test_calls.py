"""Calls into the engine, timed by a manual clock."""

from __future__ import annotations

from spark_session.java.calls import Calls


def test_a_call_that_goes_on_after_its_cancellation_is_given_up_and_comes_back() -> None:
    now = [0.0]
    calls, canceled = Calls(lambda: now[0]), [False]
    with calls.under_way("one", lambda: canceled[0]), calls.under_way("two", lambda: False):
        assert calls.given_up(5.0) == []
        canceled[0] = True
        assert calls.given_up(5.0) == []
        now[0] = 4.9
        assert calls.given_up(5.0) == []
        now[0] = 7.0
        assert [(call.text, late_s) for call, late_s in calls.given_up(5.0)] == [("one", 2.0)]
        assert [call.text for call in calls.open()] == ["one", "two"]
    assert (calls.given_up(5.0), calls.open()) == ([], ())
