"""Verification tells a wrong filter from a query that answers anew each time."""

from __future__ import annotations

import pytest

from service.errors import VerificationFailed
from service.model.query import PruningRequest, QueryRequest
from service.query.live import LiveQuery
from service.query.pruned_query import PrunedQuery
from service.query.run_pruned import run_pruned
from tests.fakes.engine import FakeEngine, engine_result
from tests.unit.query.conftest import Bench

PRUNED = PrunedQuery("narrowed", rewritten_sql="narrowed", pinned_sql="pinned", fingerprints=frozenset({"f"}))


def verified(bench: Bench) -> LiveQuery:
    request = QueryRequest("written", timeout_ms=5000, pruning=PruningRequest(is_verified=True))
    query = bench.of(request)
    query.prune(PRUNED)
    return query


def test_rows_that_only_the_filter_changes_fail_the_verification(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(3))
    with pytest.raises(VerificationFailed):
        run_pruned(verified(bench), bench.ports.pruner, bench.engine, retries=0)


def test_a_query_that_answers_anew_each_time_cannot_be_verified(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(4))
    assert run_pruned(verified(bench), bench.ports.pruner, bench.engine, retries=0).rows.num_rows == 2
    assert [each.sql for each in bench.engine.runs] == ["narrowed", "pinned", "pinned"]


def test_equal_rows_need_no_third_run(bench: Bench) -> None:
    run_pruned(verified(bench), bench.ports.pruner, bench.engine, retries=0)
    assert [each.sql for each in bench.engine.runs] == ["narrowed", "pinned"]
