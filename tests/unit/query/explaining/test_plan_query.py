"""A planned query is checked, pruned and explained as a run would be, but never runs."""

from __future__ import annotations

import pytest

from service.errors.query_errors import QueryCanceled
from service.errors.statement_errors import ParameterMissing, SqlEmpty
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import EngineLost
from service.model.query.explanation import PLANNED
from service.model.query.query import PruningRequest, QueryRequest
from service.model.tables.tables import TableName
from service.query.explaining.plan_query import PlansOnly, only_planned, plan_query
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.recorded import MAX_PLAN_CHARACTERS
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.engine import PLAN, FakeEngine, engine_result
from tests.fakes.query_records import applied, scan
from tests.unit.query.conftest import Bench

SCAN = scan("lake.tpcds.store_returns", 2003, 366)


def test_a_plan_tells_what_a_run_would_do_and_nothing_has_run(bench: Bench) -> None:
    bench.engine.answer = engine_result(scans=(SCAN,))
    explanation = plan_query(bench.query("SELECT n FROM t"), bench.ports)
    assert (explanation.query_id, explanation.state) == (None, PLANNED)
    assert (explanation.scans, explanation.spark_plan) == ((SCAN,), PLAN)
    assert explanation.plans is not None
    assert not explanation.has_run
    assert [plan.sql for plan in bench.engine.plans] == ["SELECT n FROM t"]
    assert bench.engine.runs == []
    assert bench.journal.records == []


def test_what_could_not_be_run_cannot_be_planned(bench: Bench) -> None:
    with pytest.raises(SqlEmpty):
        plan_query(bench.query(" ; "), bench.ports)
    with pytest.raises(ParameterMissing):
        plan_query(bench.query("SELECT ?"), bench.ports)
    assert bench.engine.plans == []


def test_an_unknown_table_comes_with_the_names_that_look_like_it(bench: Bench) -> None:
    bench.catalogs.put(facts_of_empty_table(TableName("lake", "tpcds", "item")))
    bench.engine = FakeEngine(TableNotFound("lake.tpcds.itme"))
    with pytest.raises(TableNotFound) as raised:
        plan_query(bench.query("SELECT * FROM lake.tpcds.itme"), bench.ports)
    assert raised.value.nearest == ("lake.tpcds.item",)


def test_a_plan_of_any_length_is_stored_within_a_bound(bench: Bench) -> None:
    bench.engine.answer = engine_result(plan_text=lambda: "x" * (MAX_PLAN_CHARACTERS + 1))
    assert len(plan_query(bench.query(), bench.ports).spark_plan) == MAX_PLAN_CHARACTERS


def test_an_engine_that_was_lost_plans_once_more(bench: Bench) -> None:
    bench.engine = FakeEngine(EngineLost())
    assert plan_query(bench.query(), bench.ports).state == PLANNED


def test_what_was_given_up_before_it_began_is_not_planned(bench: Bench) -> None:
    query = bench.query()
    query.cancel(QueryCanceled(), 0)
    with pytest.raises(QueryCanceled):
        plan_query(query, bench.ports)


def test_a_text_that_the_engine_refuses_is_planned_as_it_was_written(bench: Bench) -> None:
    query = bench.query("written")
    query.prune(PrunedQuery("pruned", rewritten_sql="pruned", pinned_sql="pinned", filters=(applied(),)))
    engine = FakeEngine(TableNotFound("t"))
    bench.run_pruned(query, PlansOnly(engine))
    assert [plan.sql for plan in engine.plans] == ["pruned", "written"]
    assert [filter_record.reason for filter_record in query.record.filters] == ["REWRITE_REJECTED"]


def test_there_is_nothing_to_verify() -> None:
    request = QueryRequest("SELECT 1", pruning=PruningRequest(is_verified=True, min_table_bytes=0))
    assert only_planned(request).pruning == PruningRequest(is_verified=False, min_table_bytes=0)
