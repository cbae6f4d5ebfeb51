"""The progress of queries that the gateway holds."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pyarrow as pa

from service.model.query.progress import EngineProgress, Phase
from service.model.query.results import Column, Manifest
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.execution.run_query import run_query
from service.query.registry.progress_of import progress_of
from tests.fakes.engine import FakeEngine
from tests.fakes.result_store import FakeResultStore
from tests.fakes.running_queries import FakeRunningQueries
from tests.unit.query.conftest import Bench


def test_the_engine_is_asked_only_for_what_it_runs(bench: Bench) -> None:
    running, query = FakeRunningQueries(), bench.query()
    assert progress_of(query, running) is None
    query.start(0)
    planning = progress_of(query, running)
    assert planning is not None
    assert (planning.phase, running.asked) == (Phase.PLANNING, [])
    query.progress.enter(Phase.RUNNING)
    running.counters[query.query_id] = EngineProgress(tasks_running=2, tasks_total=2)
    found = progress_of(query, running)
    assert found is not None
    assert found.counters is not None
    assert (found.phase, found.counters.tasks_running, running.asked) == (
        Phase.RUNNING,
        2,
        [query.query_id],
    )


def test_a_query_goes_through_its_phases(bench: Bench) -> None:
    query = bench.query()
    seen: list[Phase] = []

    class Engine(FakeEngine):
        def run(self, statement: Statement) -> EngineResult:
            seen.append(query.progress.phase)
            return super().run(statement)

    class Results(FakeResultStore):
        def put(
            self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
        ) -> Manifest:
            seen.append(query.progress.phase)
            return super().put(query_id, rows, columns, is_truncated)

    assert query.progress.phase is Phase.PLANNING
    run_query(query, replace(bench.ports, engine=Engine(), results=Results(bench.clock)))
    assert seen == [Phase.RUNNING, Phase.WRITING]
    assert progress_of(query, FakeRunningQueries()) is None
