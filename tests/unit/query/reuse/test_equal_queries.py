"""Equal queries from many threads at once, with workers and another writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID, uuid4

import pyarrow as pa
import pytest

from service.errors.query_errors import TooManyQueries
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRequest, QueryState
from service.model.query.reuse import PlanReads, ReuseChoice, ReuseOutcome, TableRead
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.query_service import QueryBounds, QueryService
from tests.fakes.engine import FakeEngine
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_history import FakeQueryHistory
from tests.unit.query.conftest import Bench
from tests.unit.query.reuse.rig import SALES, SQL, Rig

PATIENCE_S = 20.0


@contextmanager
def service(rig: Rig, workers: int = 1, max_queued: int = 1000) -> Iterator[QueryService]:
    store = FakeMetricsStore()
    bounds = QueryBounds(workers=workers, max_queued=max_queued, result_ttl_ms=600_000)
    queries = QueryService(rig.ports, store, FakeQueryHistory(store), bounds)
    try:
        yield queries
    finally:
        rig.bench.engine.release()
        queries.end(PATIENCE_S)
        queries.close()


def submit(queries: QueryService, caller: str = "ann", request_id: UUID | None = None) -> UUID:
    request = QueryRequest(SQL, catalog="lake", schema="shop", reuse=ReuseChoice.USE, request_id=request_id)
    return queries.submit(request, caller, FULL_ACCESS).query_id


def ended(queries: QueryService, query_id: UUID, caller: str = "ann") -> QueryState:
    queries.finished(query_id).result(PATIENCE_S)
    return queries.status(query_id, caller).record.state


@pytest.mark.parametrize("workers", [1, 4])
def test_a_burst_of_equal_queries_runs_once(workers: int) -> None:
    rig = Rig()
    with service(rig, workers) as queries:
        with rig.bench.engine.paused(), ThreadPoolExecutor(8) as threads:
            query_ids = list(threads.map(lambda _: submit(queries), range(40)))
            rig.bench.engine.wait_for_runs(1)
        assert {ended(queries, query_id) for query_id in query_ids} == {QueryState.SUCCEEDED}
        assert len(rig.bench.engine.runs) == 1
        found = [queries.status(query_id, "ann").record.reused for query_id in query_ids]
        [leader] = [query_id for query_id, reused in zip(query_ids, found, strict=True) if reused is None]
        assert {reused.query_id for reused in found if reused is not None} == {leader}
        assert {queries.results.chunk(query_id, 0, "ann").rows.num_rows for query_id in query_ids} == {3}


def test_a_hit_needs_no_worker_and_no_place_in_the_queue() -> None:
    rig = Rig()
    with service(rig, max_queued=1) as queries:
        assert ended(queries, submit(queries)) is QueryState.SUCCEEDED
        with rig.bench.engine.paused():
            busy = [queries.submit(QueryRequest("SELECT 1"), "ann", FULL_ACCESS).query_id]
            rig.bench.engine.wait_for_runs(2)
            busy.append(queries.submit(QueryRequest("SELECT 2"), "ann", FULL_ACCESS).query_id)
            with pytest.raises(TooManyQueries):
                queries.submit(QueryRequest("SELECT 3"), "ann", FULL_ACCESS)
            hit = submit(queries)
            assert queries.status(hit, "ann").record.state is QueryState.SUCCEEDED
        assert {ended(queries, query_id) for query_id in busy} == {QueryState.SUCCEEDED}


def test_a_hit_sent_again_under_its_request_id_is_the_same_query() -> None:
    rig = Rig()
    with service(rig) as queries:
        ended(queries, submit(queries))
        request_id = uuid4()
        first = submit(queries, request_id=request_id)
        assert submit(queries, request_id=request_id) == first
        assert rig.reuse.outcomes[ReuseOutcome.HIT] == 1


def test_a_leader_that_is_canceled_hands_over_while_it_runs() -> None:
    rig = Rig()
    with service(rig) as queries:
        with rig.bench.engine.paused():
            leader = submit(queries)
            rig.bench.engine.wait_for_runs(1)
            others = [submit(queries, caller) for caller in ("bob", "cid")]
            queries.cancel(leader, "ann")
            rig.bench.engine.wait_for_runs(2)
        assert ended(queries, leader) is QueryState.CANCELED
        assert [
            ended(queries, other, caller) for other, caller in zip(others, ("bob", "cid"), strict=True)
        ] == [QueryState.SUCCEEDED] * 2
        assert len(rig.bench.engine.runs) == 2


def test_the_end_of_the_gateway_ends_those_that_wait() -> None:
    rig = Rig()
    rig.bench.engine._pause(True)
    with service(rig) as queries:
        query_ids = [submit(queries) for _ in range(3)]
        rig.bench.engine.wait_for_runs(1)
        queries.end(0)
        assert {ended(queries, query_id) for query_id in query_ids} <= {
            QueryState.CANCELED,
            QueryState.FAILED,
        }


class ReadingEngine(FakeEngine):
    """Answers with the number of commits when the query was planned; a writer commits all the while."""

    def __init__(self, is_reporting: bool) -> None:
        super().__init__()
        self.is_reporting = is_reporting
        self.bench: Bench | None = None

    def run(self, statement: Statement) -> EngineResult:
        assert self.bench is not None
        facts = self.bench.catalogs.facts(SALES)
        loaded = TableRead(
            SALES, facts.table_uuid, facts.schema_id, facts.metadata_location, facts.snapshot_id
        )
        answer = super().run(statement)
        threading.Event().wait(0.002)
        rows = pa.table({"n": [len(facts.snapshots)]})
        return replace(answer, rows=rows, reads=lambda: PlanReads((loaded,)) if self.is_reporting else None)


@pytest.mark.parametrize("is_reporting", [False, True])
def test_no_answer_is_older_than_its_question(is_reporting: bool) -> None:
    engine = ReadingEngine(is_reporting)
    bench = engine.bench = Bench(engine=engine)
    rig = Rig(bench)
    stop = threading.Event()

    def commits() -> int:
        return len(bench.catalogs.facts(SALES).snapshots)

    def write() -> None:
        while not stop.wait(0.01) and commits() < 90:
            bench.catalogs.append(SALES, 1)

    def ask(_: int) -> tuple[int, int, int, bool]:
        before = commits()
        query_id = submit(queries)
        assert ended(queries, query_id) is QueryState.SUCCEEDED
        after = commits()
        read = queries.results.chunk(query_id, 0, "ann").rows.column("n")[0].as_py()
        return before, read, after, queries.status(query_id, "ann").record.reused is not None

    with service(rig, workers=4) as queries, ThreadPoolExecutor(8) as threads:
        writer = threads.submit(write)
        answers = list(threads.map(ask, range(400)))
        stop.set()
        writer.result(PATIENCE_S)
    assert all(before <= read <= after for before, read, after, _ in answers)
    assert sum(is_reused for *_, is_reused in answers) > 0
