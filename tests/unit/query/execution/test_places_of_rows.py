"""Which runs of a query may leave their rows in its place."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from service.model.policies.read_plan import ReadPlan
from service.model.query.query import QueryRequest
from service.model.query.refresh import RefreshOutcome
from service.model.query.results import Column, Manifest
from service.model.query.reuse import QueryFacts, Reusability
from service.model.query.written_rows import ResultPlace, WrittenRows
from service.ports.engine.query_engine import Engine
from service.query.execution.refresh_steps import Refresh
from service.query.execution.run_pruned import statement_of
from service.query.execution.run_query import run_query
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.live_states import States
from service.query.reuse.reuse_steps import NoReuse, Ticket
from tests.unit.query.conftest import Bench


class Places:
    """Gives each query a place."""

    def place(self, query_id: UUID) -> ResultPlace | None:
        return ResultPlace(f"file:///results/{query_id}", 10, 10, 10, 10)

    def keep(
        self,
        query_id: UUID,
        rows: WrittenRows,
        columns: tuple[Column, ...],
        is_truncated: bool,
    ) -> Manifest:
        raise NotImplementedError


class KeptForOthers(NoReuse):
    """Lets each query run, to be kept."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def begin(self, query: QueryHandle) -> Ticket | None:  # noqa: ARG002
        facts = QueryFacts(ReadPlan((), (), (), ()), Reusability.REUSABLE)
        return Ticket("key", facts, States(self._bench.clock.now(), {}, {}, {}))


class ReadsAState:
    """Reads a state, and cannot use it."""

    def answer(self, query: QueryHandle, ticket: Ticket, engine: Engine) -> RefreshOutcome | None:  # noqa: ARG002
        engine.run(statement_of(query, "SELECT state"))
        return RefreshOutcome.MAY_OVERFLOW


def places(bench: Bench) -> dict[str, ResultPlace | None]:
    return {statement.sql: statement.place for statement in bench.engine.runs}


def test_a_run_may_leave_its_rows_in_the_place_of_its_query(bench: Bench) -> None:
    query = bench.query("SELECT n FROM t")
    run_query(query, replace(bench.ports, written=Places()))
    assert places(bench) == {"SELECT n FROM t": Places().place(query.query_id)}


def test_rows_of_a_state_come_back_in_memory(bench: Bench) -> None:
    query, refresh = bench.query("SELECT n FROM t"), ReadsAState()
    is_a_port: Refresh = refresh
    ports = replace(bench.ports, written=Places(), reuse=KeptForOthers(bench), refresh=is_a_port)
    run_query(query, ports)
    assert places(bench) == {"SELECT state": None, "SELECT n FROM t": Places().place(query.query_id)}


def test_rows_that_are_compared_come_back_in_memory(bench: Bench) -> None:
    request = QueryRequest("SELECT n FROM t", timeout_ms=5000)
    query = bench.of(replace(request, pruning=replace(request.pruning, is_verified=True)))
    run_query(query, replace(bench.ports, written=Places()))
    assert places(bench) == {"SELECT n FROM t": None}
