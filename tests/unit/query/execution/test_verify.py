"""Verification distinguishes a wrong filter from a nondeterministic query."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.query_errors import QueryFailed, VerificationFailed
from service.model.query.query import PruningRequest, QueryRequest
from service.model.query.verification import Verification
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.query_handle import QueryHandle
from tests.fakes.engine import FakeEngine, engine_result
from tests.unit.query.conftest import Bench

PRUNED = PrunedQuery("pruned", rewritten_sql="pruned", pinned_sql="pinned", fingerprints=frozenset({"f"}))


def verified(bench: Bench, sql: str = "SELECT a FROM t") -> QueryHandle:
    request = QueryRequest(sql, timeout_ms=5000, pruning=PruningRequest(is_verified=True))
    query = bench.of(request)
    query.prune(PRUNED)
    return query


def test_rows_that_only_the_filter_changes_fail_the_verification(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(3))
    with pytest.raises(VerificationFailed):
        bench.run_pruned(verified(bench))


def test_a_query_that_answers_again_each_time_cannot_be_verified(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(4))
    assert bench.run_pruned(verified(bench)).rows.num_rows == 2
    assert [run.sql for run in bench.engine.runs] == ["pruned", "pinned", "pinned"]


@pytest.mark.parametrize(
    ("results", "sql", "expected", "runs"),
    [
        ((2, 2), "SELECT a FROM t LIMIT 5", Verification.SAME, 2),
        ((2, 3), "SELECT a FROM t LIMIT 5", Verification.NOT_COMPARABLE, 2),
        ((2, 3, 4), "SELECT a FROM t", Verification.NOT_COMPARABLE, 3),
        ((2, 3, 3), "SELECT FROM WHERE", Verification.NOT_COMPARABLE, 2),
    ],
)
def test_what_came_of_it_is_noted_in_the_record(
    bench: Bench, results: tuple[int, ...], sql: str, expected: Verification, runs: int
) -> None:
    bench.engine = FakeEngine(*(engine_result(result) for result in results))
    query = verified(bench, sql)
    bench.run_pruned(query)
    assert query.record.verification is expected
    assert len(bench.engine.runs) == runs


def test_what_a_view_leaves_open_proves_nothing(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3))
    query = verified(bench, "SELECT a FROM v")
    query.prune(replace(PRUNED, expanded_sql="SELECT a FROM (SELECT a FROM t LIMIT 5) AS v"))
    bench.run_pruned(query)
    assert query.record.verification is Verification.NOT_COMPARABLE


def test_a_result_that_was_cut_is_not_compared(bench: Bench) -> None:
    bench.engine = FakeEngine(replace(engine_result(2), is_truncated=True))
    query = verified(bench)
    bench.run_pruned(query)
    assert query.record.verification is Verification.NOT_COMPARABLE
    assert len(bench.engine.runs) == 1


def test_a_query_that_fails_as_it_is_written_fails_nobody_who_got_his_rows(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), QueryFailed("Division by zero."))
    query = verified(bench)
    assert bench.run_pruned(query).rows.num_rows == 2
    assert query.record.verification is Verification.NOT_COMPARABLE


def test_a_query_that_was_not_pruned_says_so(bench: Bench) -> None:
    query = bench.of(QueryRequest("written", pruning=PruningRequest(is_verified=True)))
    bench.run_pruned(query)
    assert query.record.verification is Verification.NOT_PRUNED


def test_without_being_asked_nothing_is_verified(bench: Bench) -> None:
    query = bench.of(QueryRequest("written"))
    query.prune(PRUNED)
    bench.run_pruned(query)
    assert query.record.verification is None
    assert len(bench.engine.runs) == 1


def test_a_difference_is_in_the_record_of_the_query_that_failed(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(3))
    query = verified(bench)
    with pytest.raises(VerificationFailed):
        bench.run_pruned(query)
    assert query.record.verification is Verification.DIFFERENT


def test_equal_rows_need_no_third_run(bench: Bench) -> None:
    bench.run_pruned(verified(bench))
    assert [run.sql for run in bench.engine.runs] == ["pruned", "pinned"]
