"""Timeouts and retention, driven by a manual clock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from service.errors.query_errors import QueryCanceled, QueryFailed, ResultExpired
from service.model.query.query import QueryState
from service.ports.engine.query_engine import EngineResult
from service.query.execution.run_query import run_query
from service.query.workers.sweep import GRACE_MS, end_late_queries, forget_old_queries
from tests.fakes.engine import FakeEngine, engine_result
from tests.unit.query.conftest import Bench


def test_what_waits_past_its_deadline_has_timed_out_and_leaves_a_record(bench: Bench) -> None:
    query = bench.query(timeout_ms=2500)
    bench.clock.advance(timedelta(milliseconds=2499))
    end_late_queries(bench.book, bench.ports)
    assert query.record.state is QueryState.QUEUED

    bench.clock.advance(timedelta(milliseconds=1))
    end_late_queries(bench.book, bench.ports)
    end_late_queries(bench.book, bench.ports)
    [record] = bench.journal.records
    assert record.error is not None
    assert (record.state, record.error.code) == (QueryState.FAILED, "QUERY_TIMED_OUT")
    assert record.error.detail == "The query exceeded its timeout of 2.5 s."
    assert bench.engine.cancels == []
    assert query.recorded.done()


def test_what_runs_past_its_deadline_is_canceled_until_the_engine_has_heard_it(bench: Bench) -> None:
    query = bench.query(timeout_ms=1000)
    query.start(0)
    bench.clock.advance(timedelta(seconds=1))
    for _ in range(3):
        end_late_queries(bench.book, bench.ports)
    assert bench.engine.cancels == [query.query_id] * 3

    query.fail(QueryCanceled(), 1100)
    end_late_queries(bench.book, bench.ports)
    assert bench.engine.cancels == [query.query_id] * 3
    assert query.record.error is not None
    assert query.record.error.code == "QUERY_TIMED_OUT"


@pytest.mark.parametrize("outcome", [engine_result(), QueryFailed()])
def test_what_hangs_after_it_was_canceled_is_ended_without_its_worker(
    bench: Bench, outcome: EngineResult | Exception
) -> None:
    bench.engine = FakeEngine(outcome)
    bench.engine.missed_cancels = 1000
    query = bench.query(timeout_ms=1000)
    with ThreadPoolExecutor(1) as worker, bench.engine.paused():
        running = worker.submit(run_query, query, bench.ports)
        bench.engine.wait_for_runs(1)
        bench.clock.advance(timedelta(seconds=1))
        end_late_queries(bench.book, bench.ports)
        bench.clock.advance(timedelta(milliseconds=GRACE_MS - 1))
        end_late_queries(bench.book, bench.ports)
        assert not query.finished.done()

        bench.clock.advance(timedelta(milliseconds=1))
        with capture_logs() as logs:
            end_late_queries(bench.book, bench.ports)
        assert (query.finished.done(), query.recorded.done()) == (True, True)
        assert [log["query_id"] for log in logs] == [str(query.query_id)]
        end_late_queries(bench.book, bench.ports)
        bench.engine.release()
        running.result()
    [record] = bench.journal.records
    assert record.error is not None
    assert (record.error.code, record.planning_ms) == ("QUERY_TIMED_OUT", 1000 + GRACE_MS)
    assert len(bench.engine.cancels) == 2
    assert query.record == record
    with pytest.raises(ResultExpired):
        bench.results.chunk(query.query_id, 0)


def test_a_cancellation_that_the_engine_missed_is_said_again(bench: Bench) -> None:
    query = bench.query()
    query.start(0)
    query.cancel(QueryCanceled(), 0)
    end_late_queries(bench.book, bench.ports)
    assert bench.engine.cancels == [query.query_id]


def test_what_runs_in_time_is_left_alone(bench: Bench) -> None:
    bench.query().start(0)
    end_late_queries(bench.book, bench.ports)
    assert bench.engine.cancels == []


def test_old_queries_go_and_take_their_results_with_them(bench: Bench) -> None:
    query = bench.query()
    run_query(query, bench.ports)
    assert bench.results.chunk(query.query_id, 0).num_rows == 3
    bench.clock.advance(timedelta(milliseconds=60_001))
    forget_old_queries(bench.book, bench.ports)
    assert bench.book.find(query.query_id) is None
    with pytest.raises(ResultExpired):
        bench.results.chunk(query.query_id, 0)


def test_what_has_no_result_is_forgotten_too(bench: Bench) -> None:
    query = bench.query()
    query.start(0)
    query.fail(QueryFailed(), 0)
    bench.clock.advance(timedelta(hours=1))
    forget_old_queries(bench.book, bench.ports)
    assert bench.book.find(query.query_id) is None
