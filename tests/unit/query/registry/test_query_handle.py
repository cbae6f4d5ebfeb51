"""A query's states: forward only, one end, one reason."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryEnded, QueryFailed, QueryTimedOut, ResultTooLarge
from service.errors.unavailable import EngineLost, ShuttingDown
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import EngineRun, QueryRequest, QueryState
from service.model.query.results import Manifest
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.query_handle import QueryHandle
from tests.fakes.clock import FakeClock
from tests.fakes.engine import engine_result
from tests.fakes.query_records import scan

MANIFEST = Manifest((), 3, 12, (), is_truncated=False)
SCAN = scan("lake.tpcds.store_returns", 2003, 366)
ORDER = {QueryState.QUEUED: 0, QueryState.RUNNING: 1}
ENDINGS: list[GatewayError] = [QueryFailed(), QueryCanceled(), QueryTimedOut(), EngineLost(), GatewayError()]
REASONS: list[QueryEnded] = [QueryCanceled(), QueryTimedOut(), QueryCanceled("The gateway is shutting down.")]


def live_query(query_class: type[QueryHandle] = QueryHandle) -> QueryHandle:
    return query_class(
        uuid4(), QueryRequest("SELECT 1", timeout_ms=5000), "ann", FULL_ACCESS, FakeClock().now(), 0
    )


def test_times_are_those_of_waiting_running_and_both() -> None:
    query = live_query()
    assert query.deadline_ms == 5000
    assert query.start(30)
    assert query.status(50).elapsed_ms == 50
    query.fail(QueryFailed("Division by zero."), 100)
    status = query.status(9999)
    times = (status.record.queued_ms, status.record.planning_ms, status.record.running_ms)
    assert (times, status.elapsed_ms) == ((30, 70, 0), 100)


def test_the_time_before_the_plan_holds_that_of_the_filters() -> None:
    queries = [live_query() for _ in range(3)]
    for query in queries:
        query.start(0)
        query.prune(PrunedQuery("SELECT 1", parse_ms=1, detect_ms=2, filters_ms=3))
    run = EngineRun(planning_ms=4, running_ms=5, scans=(), plan_text="")
    failure = QueryFailed()
    failure.run = run
    queries[0].succeed(engine_result(), MANIFEST, 100)
    queries[1].fail(failure, 100)
    queries[2].fail(EngineLost(), 100)
    times = [(query.record.planning_ms, query.record.running_ms) for query in queries]
    assert times == [(10, 90), (10, 90), (6, 94)]


def test_what_ended_while_it_waited_has_waited_all_that_time() -> None:
    query = live_query()
    query.cancel(QueryTimedOut(), 5000)
    record = query.record
    assert (record.queued_ms, record.planning_ms, record.running_ms) == (5000, 0, 0)


def test_a_query_that_ended_at_the_clocks_zero_has_ended() -> None:
    query = live_query()
    query.cancel(QueryCanceled(), 0)
    assert query.status(500).elapsed_ms == 0


def test_success_brings_the_engines_planning_time_and_the_manifests_counts() -> None:
    query = live_query()
    query.start(1)
    assert query.succeed(engine_result(), MANIFEST, 20)
    record = query.status(20).record
    assert (record.planning_ms, record.running_ms, record.row_count, record.byte_count) == (4, 15, 3, 12)
    assert query.status(20).manifest == MANIFEST
    assert query.finished.done()


def test_the_parts_of_a_success_add_up_to_the_time_from_submission_to_end() -> None:
    query = live_query()
    query.start(30)
    query.succeed(engine_result(), MANIFEST, 250)
    record = query.record
    assert record.queued_ms + record.planning_ms + record.running_ms == query.status(9999).elapsed_ms


def test_a_planning_time_that_was_rounded_up_leaves_no_part_below_zero() -> None:
    query = live_query()
    query.start(0)
    query.succeed(engine_result(), MANIFEST, 3)
    assert (query.record.planning_ms, query.record.running_ms) == (3, 0)


@pytest.mark.parametrize("failure", [QueryFailed(), QueryTimedOut(), QueryCanceled(), ResultTooLarge()])
def test_what_failed_while_it_ran_tells_what_it_had_planned_and_read(failure: QueryEnded) -> None:
    failure.run = EngineRun(40, 5, (SCAN,), "== Physical Plan ==")
    query = live_query()
    query.start(30)
    query.cancel(QueryCanceled(), 99)
    query.fail(failure, 100)
    record = query.record
    assert (record.queued_ms, record.planning_ms, record.running_ms, record.scans) == (30, 40, 30, (SCAN,))


def test_what_a_lost_engine_ran_is_not_called_planning() -> None:
    query = live_query()
    query.start(0)
    query.fail(EngineLost(), 100)
    assert (query.record.planning_ms, query.record.running_ms) == (0, 100)


def test_a_failure_that_is_retained_has_let_go_of_where_it_came_from() -> None:
    failure = QueryFailed()
    failure.run = EngineRun(1, 1, (), "a long plan")
    try:
        raise failure from RuntimeError()
    except QueryFailed:
        live_query().fail(failure, 1)
    left: set[object] = {failure.__traceback__, failure.__cause__, failure.__context__, failure.run}
    assert left == {None}


def test_a_recorded_query_keeps_its_status_and_drops_what_it_ran_with() -> None:
    query = live_query()
    query.prune(PrunedQuery("SELECT 2", rewritten_sql="SELECT 3"))
    query.fail(QueryCanceled(), 7)
    query.recorded.set_result(None)
    before = query.status(9)
    query.let_go()
    assert query.pruned == PrunedQuery(query.request.sql)
    assert query.status(9) == before
    assert query.finished.done()
    assert query.recorded.done()


def test_what_hangs_is_given_up_only_when_its_grace_is_over() -> None:
    query = live_query()
    query.start(0)
    assert not query.give_up(50, 1000)
    query.cancel(QueryTimedOut(), 1000)
    query.cancel(QueryCanceled(), 1040)
    assert not query.give_up(50, 1049)
    assert query.give_up(50, 1050)
    assert not query.give_up(50, 1051)
    assert isinstance(query.status(1051).failure, QueryTimedOut)


def test_a_success_that_comes_too_late_changes_nothing() -> None:
    query = live_query()
    query.start(0)
    query.cancel(QueryCanceled(), 1)
    query.give_up(5, 6)
    assert not query.succeed(engine_result(), MANIFEST, 7)
    assert (query.record.state, query.status(7).manifest) == (QueryState.CANCELED, None)


def test_a_query_has_one_worker_at_a_time() -> None:
    query = live_query()
    assert query.take(1)
    assert not query.take(2)
    assert query.set_aside()
    assert query.take(3)


def test_a_query_is_queued_while_it_is_planned_and_its_last_planning_is_no_waiting() -> None:
    query = live_query()
    query.take(10)
    assert query.is_running()
    query.set_aside()
    assert not query.is_running()
    query.take(30)
    assert query.record.state is QueryState.QUEUED
    assert query.start(50)
    assert query.start(60)
    assert (query.record.state, query.record.queued_ms) == (QueryState.RUNNING, 30)


def test_a_query_that_is_canceled_while_it_is_planned_is_ended_by_its_worker() -> None:
    query = live_query()
    query.take(10)
    assert not query.cancel(QueryCanceled(), 20)
    assert not query.start(30)
    assert not query.set_aside()
    assert query.fail(QueryCanceled(), 40)
    assert query.record.state is QueryState.CANCELED


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
def test_the_first_reason_to_end_it_is_the_one_that_is_reported(seen: GatewayError) -> None:
    query = live_query()
    query.start(1)
    query.cancel(QueryTimedOut(), 2)
    query.cancel(QueryCanceled(), 3)
    query.fail(seen, 4)
    error = query.record.error
    assert error is not None
    assert (query.record.state, error.code) == (QueryState.FAILED, "QUERY_TIMED_OUT")


def test_a_failure_of_its_own_is_reported_even_when_it_was_to_be_canceled() -> None:
    query = live_query()
    query.start(1)
    query.cancel(QueryCanceled(), 2)
    query.fail(QueryFailed("Division by zero."), 3)
    assert query.record.error is not None
    assert query.record.error.detail == "Division by zero."


class StartedMeanwhile(QueryHandle):
    """A worker starts it after it was found waiting, and before its cancellation ends it."""

    has_started = False

    def fail(self, failure: GatewayError, now_ms: int) -> bool:
        self.has_started = self.start(now_ms)
        return super().fail(failure, now_ms)


def test_no_worker_starts_what_is_being_canceled() -> None:
    query = live_query(StartedMeanwhile)
    assert query.cancel(QueryCanceled(), 5)
    assert isinstance(query, StartedMeanwhile)
    assert not query.has_started


class CanceledTwiceAtOnce(QueryHandle):
    """Another caller cancels it after it was found waiting, and before it ends."""

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
    """Operations on a query in any order."""

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
    def take(self) -> None:
        was_waiting = self.query.record.state is QueryState.QUEUED and not self.query.is_running()
        may_be_taken = was_waiting and not self.query.is_canceled()
        assert self.query.take(self.clock.elapsed_ms()) == may_be_taken

    @rule()
    def start(self) -> None:
        may_start = not self.query.record.state.is_final and not self.query.is_canceled()
        assert self.query.start(self.clock.elapsed_ms()) == may_start

    @rule()
    def set_aside(self) -> None:
        was_planned = self.query.record.state is QueryState.QUEUED
        if self.query.set_aside():
            assert was_planned
            assert not self.query.is_running()

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
        self.endings_claimed += self.query.succeed(engine_result(), MANIFEST, self.clock.elapsed_ms())

    @precondition(lambda self: self.query.is_running())
    @rule(grace_ms=st.integers(0, 100))
    def give_up(self, grace_ms: int) -> None:
        self.endings_claimed += self.query.give_up(grace_ms, self.clock.elapsed_ms())

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
        parts = status.record.queued_ms, status.record.planning_ms, status.record.running_ms
        assert min(parts) >= 0
        if state.is_final:
            assert sum(parts) == status.elapsed_ms
        elif state is QueryState.QUEUED:
            assert parts == (status.elapsed_ms, 0, 0)


TestLife = Life.TestCase
TestLife.settings = settings(deadline=None)
