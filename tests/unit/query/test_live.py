"""A query's states: forward only, one end, one reason."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.errors import (
    EngineLost,
    GatewayError,
    QueryCanceled,
    QueryEnded,
    QueryFailed,
    QueryTimedOut,
    ShuttingDown,
)
from service.model.query import QueryRequest, QueryState
from service.model.results import Manifest
from service.query.live import LiveQuery
from tests.fakes.clock import FakeClock
from tests.fakes.engine import engine_result

MANIFEST = Manifest((), 3, 12, (), is_truncated=False)
ORDER = {QueryState.QUEUED: 0, QueryState.RUNNING: 1}
ENDINGS: list[GatewayError] = [QueryFailed(), QueryCanceled(), QueryTimedOut(), EngineLost(), GatewayError()]
REASONS: list[QueryEnded] = [QueryCanceled(), QueryTimedOut(), QueryCanceled("The gateway is shutting down.")]


def live_query(query_class: type[LiveQuery] = LiveQuery) -> LiveQuery:
    return query_class(uuid4(), QueryRequest("SELECT 1", timeout_ms=5000), "ann", FakeClock().now(), 0)


def test_times_are_those_of_waiting_running_and_both() -> None:
    query = live_query()
    assert query.deadline_ms == 5000
    assert query.start(30)
    assert query.status(50).elapsed_ms == 50
    query.fail(QueryFailed("Division by zero."), 100)
    status = query.status(9999)
    assert (status.record.queued_ms, status.record.running_ms, status.elapsed_ms) == (30, 70, 100)


def test_a_query_that_ended_at_the_clocks_zero_has_ended() -> None:
    query = live_query()
    query.cancel(QueryCanceled(), 0)
    assert query.status(500).elapsed_ms == 0


def test_success_brings_the_engines_times_and_the_manifests_counts() -> None:
    query = live_query()
    query.start(1)
    query.succeed(engine_result(), MANIFEST, 20)
    record = query.status(20).record
    assert (record.planning_ms, record.running_ms, record.row_count, record.byte_count) == (4, 9, 3, 12)
    assert query.status(20).manifest == MANIFEST
    assert query.finished.done()


def test_a_query_starts_once() -> None:
    query = live_query()
    assert query.start(1)
    assert not query.start(2)


def test_canceling_what_waits_ends_it_and_no_worker_may_start_it() -> None:
    query = live_query()
    assert query.cancel(QueryCanceled(), 7)
    assert (query.record.state, query.ended_ms) == (QueryState.CANCELED, 7)
    assert not query.start(8)


def test_canceling_what_runs_only_asks_for_its_end() -> None:
    query = live_query()
    query.start(1)
    assert not query.cancel(QueryCanceled(), 2)
    assert query.is_canceled()
    assert query.is_running()
    assert not query.finished.done()


def test_canceling_what_has_ended_changes_nothing() -> None:
    query = live_query()
    query.start(1)
    query.succeed(engine_result(), MANIFEST, 2)
    assert not query.cancel(QueryCanceled(), 3)
    assert (query.record.state, query.is_canceled()) == (QueryState.SUCCEEDED, False)


@pytest.mark.parametrize("seen", [QueryCanceled(), EngineLost(), ShuttingDown()])
def test_the_first_reason_to_end_it_is_the_one_that_is_told(seen: GatewayError) -> None:
    query = live_query()
    query.start(1)
    query.cancel(QueryTimedOut(), 2)
    query.cancel(QueryCanceled(), 3)
    query.fail(seen, 4)
    error = query.record.error
    assert error is not None
    assert (query.record.state, error.code) == (QueryState.FAILED, "QUERY_TIMED_OUT")


def test_a_failure_of_its_own_is_told_even_when_it_was_to_be_canceled() -> None:
    query = live_query()
    query.start(1)
    query.cancel(QueryCanceled(), 2)
    query.fail(QueryFailed("Division by zero."), 3)
    assert query.record.error is not None
    assert query.record.error.detail == "Division by zero."


class StartedMeanwhile(LiveQuery):
    """A worker comes for it after it was found waiting, and before the cancellation has ended it."""

    has_started = False

    def fail(self, failure: GatewayError, now_ms: int) -> bool:
        self.has_started = self.start(now_ms)
        return super().fail(failure, now_ms)


def test_no_worker_starts_what_is_being_canceled() -> None:
    query = live_query(StartedMeanwhile)
    assert query.cancel(QueryCanceled(), 5)
    assert isinstance(query, StartedMeanwhile)
    assert not query.has_started


class CanceledTwiceAtOnce(LiveQuery):
    """Somebody else cancels it between the finding that it waits and its end."""

    others: list[bool]

    def fail(self, failure: GatewayError, now_ms: int) -> bool:
        if not hasattr(self, "others"):
            self.others = []
            self.others.append(self.cancel(QueryTimedOut(), now_ms))
        return super().fail(failure, now_ms)


def test_of_two_who_cancel_at_once_one_has_ended_it() -> None:
    query = live_query(CanceledTwiceAtOnce)
    mine = query.cancel(QueryCanceled(), 5)
    assert isinstance(query, CanceledTwiceAtOnce)
    assert sorted([mine, *query.others]) == [False, True]


class Life(RuleBasedStateMachine):
    """Whatever is asked of a query in whatever order."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.query = live_query()
        self.seen = [self.query.record]
        self.endings_claimed = 0

    @rule(milliseconds=st.integers(0, 100))
    def time_passes(self, milliseconds: int) -> None:
        self.clock.advance(timedelta(milliseconds=milliseconds))

    @rule()
    def start(self) -> None:
        was_waiting = self.query.record.state is QueryState.QUEUED
        assert self.query.start(self.clock.elapsed_ms()) == was_waiting

    @rule(reason=st.sampled_from(REASONS))
    def cancel(self, reason: QueryEnded) -> None:
        self.endings_claimed += self.query.cancel(reason, self.clock.elapsed_ms())

    @precondition(lambda self: self.query.record.state is not QueryState.QUEUED)
    @rule(failure=st.sampled_from(ENDINGS))
    def fail(self, failure: GatewayError) -> None:
        self.endings_claimed += self.query.fail(failure, self.clock.elapsed_ms())

    @precondition(lambda self: self.query.record.state is not QueryState.QUEUED)
    @rule()
    def succeed(self) -> None:
        was_open = not self.query.record.state.is_final
        self.query.succeed(engine_result(), MANIFEST, self.clock.elapsed_ms())
        self.endings_claimed += was_open

    @invariant()
    def it_never_goes_back_and_ends_once(self) -> None:
        before, now = self.seen[-1], self.query.record
        assert ORDER.get(before.state, 2) <= ORDER.get(now.state, 2)
        if before.state.is_final:
            assert now is before
        assert self.endings_claimed == now.state.is_final
        self.seen.append(now)

    @invariant()
    def its_parts_agree(self) -> None:
        status = self.query.status(self.clock.elapsed_ms())
        state = status.record.state
        assert self.query.finished.done() == state.is_final == (self.query.ended_ms is not None)
        assert (status.manifest is not None) == (state is QueryState.SUCCEEDED)
        assert (status.failure is None) == (status.record.error is None)
        assert (status.failure is not None) == (state in (QueryState.FAILED, QueryState.CANCELED))
        assert isinstance(status.failure, QueryCanceled) == (state is QueryState.CANCELED)
        assert 0 <= status.elapsed_ms <= self.clock.elapsed_ms()


TestLife = Life.TestCase
TestLife.settings = settings(deadline=None)
