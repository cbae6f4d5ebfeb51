"""A result is gone once policies do not let its caller read the same any more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest

from service.errors.policy_errors import PoliciesDown
from service.errors.query_errors import ResultExpired
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.policies.actions import Action
from service.model.policies.policies import Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.query import QueryRequest, QueryState
from service.policies.live_policies import LivePolicies
from service.ports.engine.query_engine import EngineResult, Statement
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.policy_store import FakePolicyStore
from tests.unit.test_gateway import ITEM, House

PATIENCE_S = 20.0
ANN = Principal("ann", PrincipalKind.KEY, frozenset({"analyst"}))
SELECT = Grant("analyst", Action.SELECT, TablePattern.parse("lake.*.*"))


class DecidingEngine(FakeEngine):
    """Decides as an engine does that reads one table."""

    def run(self, statement: Statement) -> EngineResult:
        statement.access.decide(Action.SELECT, ITEM)
        return super().run(statement)


class Policed:
    def __init__(self, *, has_policies: bool = True) -> None:
        self.clock = FakeClock()
        self.engine = DecidingEngine()
        self.store = FakePolicyStore(policies=PolicySet(1, (SELECT,)))
        self.live = LivePolicies(self.store, self.clock)
        access_of = self.live.access_of if has_policies else None
        self.house = House(self.engine, self.clock, access_of=access_of)
        self.queries = self.house.gateway.queries
        self.live.refresh()

    def submit(self) -> UUID:
        access = self.live.access_of(ANN)
        return self.queries.submit(QueryRequest("SELECT 1"), ANN.name, access).query_id

    def ended(self) -> UUID:
        query_id = self.submit()
        self.queries.finished(query_id).result(PATIENCE_S)
        return query_id

    def change(self, *grants: Grant, filters: tuple[RowFilter, ...] = ()) -> None:
        version = self.store.version()
        self.store.replace(PolicySet(version, grants, filters), expected_version=version, by="ops")
        self.live.refresh()


@pytest.fixture
def policed() -> Iterator[Policed]:
    made = Policed()
    yield made
    made.house.gateway.close()


def test_a_result_is_read_while_the_rights_are_the_same(policed: Policed) -> None:
    query_id = policed.ended()
    policed.change(SELECT, Grant("other", Action.INSERT, TablePattern.parse("*.*.*")))
    assert policed.queries.results.chunk(query_id, 0, "ann").rows.num_rows


@pytest.mark.parametrize("change", ["no grant", "a row filter"])
def test_a_result_is_gone_once_the_rights_have_changed(policed: Policed, change: str) -> None:
    query_id = policed.ended()
    first = policed.queries.results.chunk(query_id, 0, "ann")
    assert len(first.manifest.chunks) > 1
    if change == "no grant":
        policed.change()
    else:
        policed.change(SELECT, filters=(RowFilter("analyst", SELECT.pattern, "id = 1"),))
    for index in (0, 1):
        with pytest.raises(ResultExpired):
            policed.queries.results.chunk(query_id, index, "ann")
    status = policed.queries.status(query_id, "ann")
    assert (status.record.state, status.manifest) == (QueryState.SUCCEEDED, None)
    policed.change(SELECT)
    with pytest.raises(ResultExpired):
        policed.queries.results.chunk(query_id, 0, "ann")


def test_a_query_that_runs_for_long_has_no_result_for_who_lost_the_grant(policed: Policed) -> None:
    with policed.engine.paused():
        query_id = policed.submit()
        policed.engine.wait_for_runs(1)
        policed.change()
        assert policed.queries.status(query_id, "ann").record.state is QueryState.RUNNING
    policed.queries.finished(query_id).result(PATIENCE_S)
    with pytest.raises(ResultExpired):
        policed.queries.results.chunk(query_id, 0, "ann")


def test_a_result_waits_while_the_policies_are_not_known(policed: Policed) -> None:
    query_id = policed.ended()
    policed.store.is_down = True
    policed.clock.advance(timedelta(minutes=6))
    with pytest.raises(PoliciesDown):
        policed.queries.results.chunk(query_id, 0, "ann")
    policed.store.is_down = False
    policed.live.refresh()
    assert policed.queries.results.chunk(query_id, 0, "ann").rows.num_rows


@pytest.mark.parametrize("has_policies", [True, False])
def test_a_replica_without_the_query_serves_its_result(has_policies: bool) -> None:
    policed = Policed(has_policies=has_policies)
    query_id = policed.ended()
    policed.queries.registry.forget(query_id)
    assert policed.queries.status(query_id, "ann").manifest is not None
    assert policed.queries.results.chunk(query_id, 0, "ann").rows.num_rows
    policed.house.gateway.close()


@pytest.mark.parametrize("change", ["no grant", "a row filter", "no note", "another text"])
def test_a_replica_without_the_query_asks_the_policies(policed: Policed, change: str) -> None:
    query_id = policed.ended()
    policed.queries.registry.forget(query_id)
    if change == "no grant":
        policed.change()
    elif change == "a row filter":
        policed.change(SELECT, filters=(RowFilter("analyst", SELECT.pattern, "id = 1"),))
    elif change == "no note":
        del policed.house.results._rights[query_id]
    else:
        policed.house.results.note_rights(query_id, "{}")
    assert policed.queries.status(query_id, "ann").manifest is None
    with pytest.raises(ResultExpired):
        policed.queries.results.chunk(query_id, 0, "ann")


def test_a_replica_without_the_query_waits_while_the_policies_are_not_known(policed: Policed) -> None:
    query_id = policed.ended()
    policed.queries.registry.forget(query_id)
    policed.clock.advance(timedelta(minutes=6))
    with pytest.raises(PoliciesDown):
        policed.queries.results.chunk(query_id, 0, "ann")
    # Neither needs the result.
    assert policed.queries.explainer.explain(query_id, "ann")
    policed.queries.cancel(query_id, "ann")
    policed.live.refresh()
    assert policed.queries.results.chunk(query_id, 0, "ann").rows.num_rows
