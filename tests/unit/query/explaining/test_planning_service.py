"""Few workers make plans, and the number of plans that wait is bounded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed, TooManyQueries
from service.errors.unavailable import ShuttingDown
from service.model.query.explanation import PLANNED
from service.query.explaining.plan_query import plan_query
from service.query.explaining.planning_service import PlanningService
from tests.fakes.engine import PATIENCE_S, FakeEngine
from tests.unit.query.conftest import Bench


@pytest.fixture
def plannings(bench: Bench) -> Iterator[PlanningService]:
    made = PlanningService(bench.ports, count=1, max_waiting=1)
    yield made
    bench.engine.release()
    made.close()


def test_a_plan_is_there_when_it_is_finished(bench: Bench, plannings: PlanningService) -> None:
    planning = plannings.begin(bench.query(), plan_query)
    planning.finished.result(PATIENCE_S)
    assert planning.explanation().state == PLANNED


def test_a_query_that_cannot_be_planned_says_why(bench: Bench, plannings: PlanningService) -> None:
    planning = plannings.begin(bench.query(" "), plan_query)
    planning.finished.result(PATIENCE_S)
    with pytest.raises(GatewayError) as raised:
        planning.explanation()
    assert raised.value.code == "SQL_EMPTY"


def test_a_fault_of_the_gateway_itself_leaves_nobody_waiting(bench: Bench) -> None:
    bench.engine = FakeEngine(RuntimeError("a fault"))
    plannings = PlanningService(bench.ports, count=1, max_waiting=0)
    planning = plannings.begin(bench.query(), plan_query)
    planning.finished.result(PATIENCE_S)
    with pytest.raises(GatewayError):
        planning.explanation()
    plannings.close()


def test_more_than_may_wait_are_refused_and_places_become_free_again(
    bench: Bench, plannings: PlanningService
) -> None:
    with bench.engine.paused():
        waiting = [plannings.begin(bench.query(), plan_query) for _ in range(2)]
        with pytest.raises(TooManyQueries):
            plannings.begin(bench.query(), plan_query)
    for planning in waiting:
        planning.finished.result(PATIENCE_S)
    plannings.close()
    with pytest.raises(ShuttingDown):
        plannings.begin(bench.query(), plan_query)


def test_one_that_nobody_waits_for_is_ended(bench: Bench, plannings: PlanningService) -> None:
    with bench.engine.paused():
        begun, behind = plannings.begin(bench.query(), plan_query), plannings.begin(bench.query(), plan_query)
        bench.engine.wait_for_plans(1)
        plannings.give_up(behind)
        plannings.give_up(begun)
        for planning in (begun, behind):
            planning.finished.result(PATIENCE_S)
            with pytest.raises(QueryCanceled):
                planning.explanation()
    assert len(bench.engine.plans) == 1


def test_a_failed_plan_says_what_the_engine_said(bench: Bench) -> None:
    bench.engine = FakeEngine(QueryFailed("Too deep."), QueryFailed("Too deep."))
    plannings = PlanningService(bench.ports, count=1, max_waiting=0)
    planning = plannings.begin(bench.query(), plan_query)
    planning.finished.result(PATIENCE_S)
    with pytest.raises(QueryFailed, match="Too deep"):
        planning.explanation()
    plannings.close()
