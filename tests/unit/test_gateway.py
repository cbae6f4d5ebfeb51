"""The gateway's own methods, with an engine that a test controls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from service.errors.query_errors import (
    ChunkNotFound,
    QueryFailed,
    QueryNotFound,
    RequestIdReused,
    ResultExpired,
    TooManyQueries,
)
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import EngineLost, MetricsStoreDown, ShuttingDown
from service.gateway import ENDING_S, Gateway, GatewayBounds
from service.model.authentication.principals import Principal
from service.model.operations.health import PartHealth, PartState
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.history import QueryListing
from service.model.query.query import QueryRecord, QueryRequest, QueryState
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from service.query.execution.run_query import QueryPorts
from service.query.query_service import QueryBounds, QueryService
from service.query.registry.known_requests import STORE_REST_MS
from service.query.registry.presence import PresenceBounds
from service.query.registry.query_status import QueryStatus
from service.query.registry.readable_results import ReadableResults
from service.query.workers.sweep import forget_old_queries
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.engine import PLAN, FakeEngine, engine_result
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.ingest_service import FakeIngests
from tests.fakes.journal import FakeJournal
from tests.fakes.maintenance import FakeMaintenances
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.policies import fake_policies
from tests.fakes.policy_store import FakePolicyStore
from tests.fakes.pruner import pruner
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.query_metrics import FakeQueryMetrics
from tests.fakes.query_records import full_record, scan
from tests.fakes.replicas import FakeReplicas
from tests.fakes.result_store import FakeResultStore

PATIENCE_S = 20.0
RESULT_TTL = timedelta(minutes=10)
UNHURRIED = PresenceBounds()
ITEM = TableName("lake", "tpcds", "item")


class CountingStore(FakeMetricsStore):
    """Counts the lookups of a requestId."""

    lookups = 0

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        self.lookups += 1
        return super().find_request(caller, request_id)


class SlowDeletion(FakeResultStore):
    """Does not come back from its first deletion before the test says so."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock, RESULT_TTL)
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def drop(self, query_id: UUID) -> None:
        if not self.has_begun.is_set():
            self.has_begun.set()
            self.may_end.wait()
        super().drop(query_id)


class House:
    """A gateway and all of its fakes."""

    def __init__(
        self,
        engine: FakeEngine,
        clock: FakeClock | None = None,
        workers: int = 1,
        max_queued: int = 10,
        shutdown_timeout_s: float = PATIENCE_S,
        journal: FakeJournal | None = None,
        store: CountingStore | None = None,
        filter_cache: FakeFilterCache | None = None,
        catalogs: FakeCatalogs | None = None,
        ingests: FakeIngests | None = None,
        replicas: FakeReplicas | None = None,
        presence: PresenceBounds = UNHURRIED,
        results: FakeResultStore | None = None,
        *,
        access_of: Callable[[Principal], Access] | None = None,
    ) -> None:
        self.engine = engine
        self.clock = clock or FakeClock()
        self.store = store or CountingStore()
        self.journal = journal or FakeJournal(self.store)
        self.filter_cache = filter_cache or FakeFilterCache()
        self.catalogs = catalogs or FakeCatalogs(tables=[facts_of_empty_table(ITEM)])
        self.results = results or FakeResultStore(self.clock, RESULT_TTL, chunk_rows=2)
        self.closings = 0
        self._ports = QueryPorts(
            engine=engine,
            catalogs=self.catalogs,
            results=self.results,
            readable=ReadableResults(self.results, access_of),
            journal=self.journal,
            clock=self.clock,
            pruner=pruner(self.catalogs, engine, self.filter_cache, self.clock),
            max_sql_bytes=1000,
            engine_retries=1,
        )
        ttl_ms = RESULT_TTL // timedelta(milliseconds=1)
        self.metrics = FakeQueryMetrics()
        self.gateway = Gateway(
            queries=QueryService(
                self._ports,
                self.store,
                FakeQueryHistory(self.store),
                QueryBounds(
                    workers=workers,
                    max_queued=max_queued,
                    result_ttl_ms=ttl_ms,
                    presence=presence,
                    pause=lambda _: None,
                ),
                replicas,
            ),
            ingests=ingests or FakeIngests(),
            maintenances=FakeMaintenances(self.catalogs, self.clock),
            store=self.store,
            filter_cache=self.filter_cache,
            metrics=self.metrics,
            bounds=GatewayBounds(shutdown_timeout_s=shutdown_timeout_s),
            on_closed=self._on_closed,
        )

    def submit(
        self, sql: str = "SELECT 1", request_id: UUID | None = None, timeout_ms: int = 300_000
    ) -> UUID:
        request = QueryRequest(sql, request_id=request_id, timeout_ms=timeout_ms)
        return self.gateway.queries.submit(request, "ann", FULL_ACCESS).query_id

    def status(self, query_id: UUID) -> QueryStatus:
        return self.gateway.queries.status(query_id, "ann")

    def state(self, query_id: UUID) -> QueryState:
        return self.status(query_id).record.state

    def ended(self, query_id: UUID) -> QueryStatus:
        """Returns the status after the query has ended and its record is stored."""
        self.gateway.queries.finished(query_id).result(PATIENCE_S)
        self.gateway.queries.explainer.explain(query_id, "ann")
        return self.status(query_id)

    def error_code(self, query_id: UUID) -> str:
        """Returns the error code in the query's stored record."""
        self.ended(query_id)
        record = self.store.find(query_id)
        assert record is not None
        assert record.error is not None
        return record.error.code

    def forget(self) -> None:
        """Lets all results expire, and sweeps."""
        self.clock.advance(RESULT_TTL + timedelta(milliseconds=1))
        forget_old_queries(self.gateway.queries.registry, self._ports)

    def _on_closed(self) -> None:
        self.closings += 1


Build = Callable[..., House]


@pytest.fixture
def build() -> Iterator[Build]:
    """Builds gateways, and closes them whatever a test leaves running."""
    with ExitStack() as stack:

        def build(engine: FakeEngine | None = None, **bounds: object) -> House:
            house = House(engine or FakeEngine(), **bounds)  # type: ignore[arg-type]
            stack.callback(house.gateway.close)
            stack.callback(house.engine.release)
            return house

        yield build


@pytest.fixture
def house(build: Build) -> House:
    return build()


# ---- one query ------------------------------------------------------------------------------------


def test_a_query_succeeds_and_its_rows_can_be_read_again_and_again(house: House) -> None:
    submission = house.gateway.queries.submit(QueryRequest("SELECT n FROM t"), "ann", FULL_ACCESS)
    assert not submission.is_reused
    status = house.ended(submission.query_id)
    assert (status.record.state, status.record.row_count) == (QueryState.SUCCEEDED, 3)
    for _ in range(2):
        first, second = (
            house.gateway.queries.results.chunk(submission.query_id, index, "ann") for index in (0, 1)
        )
        assert first.rows["n"].to_pylist() + second.rows["n"].to_pylist() == [0, 1, 2]
        assert (second.chunk.row_offset, second.manifest) == (2, status.manifest)


def test_a_query_fails_and_its_record_has_the_code(build: Build) -> None:
    house = build(FakeEngine(QueryFailed("Division by zero.")))
    query_id = house.submit()
    assert house.error_code(query_id) == "QUERY_FAILED"
    assert house.state(query_id) is QueryState.FAILED


def test_an_unknown_table_gets_the_nearest_names(build: Build) -> None:
    house = build(FakeEngine(TableNotFound("lake.tpcds.itme")))
    failure = house.ended(house.submit()).failure
    assert isinstance(failure, TableNotFound)
    assert failure.nearest == ("lake.tpcds.item",)


def test_an_engine_lost_once_is_not_noticed_and_one_lost_twice_is(build: Build) -> None:
    house = build(FakeEngine(EngineLost()))
    assert house.ended(house.submit()).record.state is QueryState.SUCCEEDED
    assert len(house.engine.runs) == 2
    house.engine.outcomes.extend([EngineLost(), EngineLost()])
    assert house.error_code(house.submit()) == "ENGINE_LOST"


def test_a_fault_in_the_engine_ends_the_query_and_leaves_a_record_without_its_text(build: Build) -> None:
    house = build(FakeEngine(RuntimeError("a secret of ours")))
    query_id = house.submit()
    assert house.error_code(query_id) == "INTERNAL"
    error = house.status(query_id).record.error
    assert error is not None
    assert "secret" not in error.detail
    assert house.ended(house.submit()).record.state is QueryState.SUCCEEDED


def test_a_fault_in_rendering_the_plan_leaves_the_answer_and_a_record(build: Build) -> None:
    def broken() -> str:
        raise RuntimeError

    house = build(FakeEngine(engine_result(plan_text=broken)))
    query_id = house.submit()
    assert house.ended(query_id).record.state is QueryState.SUCCEEDED
    assert house.gateway.queries.explainer.explain(query_id, "ann").spark_plan == ""
    assert [record.state for record in house.store.records] == [QueryState.SUCCEEDED]


# ---- the same request again -----------------------------------------------------------------------


def test_the_same_request_id_gives_the_same_query_and_one_run(house: House) -> None:
    request = QueryRequest("SELECT 1", request_id=uuid4())
    with house.engine.paused():
        first = house.gateway.queries.submit(request, "ann", FULL_ACCESS)
        second = house.gateway.queries.submit(request, "ann", FULL_ACCESS)
    house.ended(first.query_id)
    third = house.gateway.queries.submit(request, "ann", FULL_ACCESS)
    assert {second.query_id, third.query_id} == {first.query_id}
    assert [submission.is_reused for submission in (first, second, third)] == [False, True, True]
    assert len(house.engine.runs) == 1


def test_many_at_once_with_one_request_id_are_one_query(build: Build) -> None:
    house = build(workers=4)
    request_id = uuid4()
    together = threading.Barrier(8)

    def submit(_: int) -> UUID:
        together.wait(PATIENCE_S)
        return house.submit(request_id=request_id)

    with ThreadPoolExecutor(8) as callers:
        [query_id] = set(callers.map(submit, range(8)))
    house.ended(query_id)
    assert len(house.engine.runs) == 1


def test_a_request_id_with_another_body_is_refused_in_memory_and_from_the_store(house: House) -> None:
    request_id = uuid4()
    with house.engine.paused():
        query_id = house.submit("SELECT 1", request_id)
        with pytest.raises(RequestIdReused):
            house.submit("SELECT 2", request_id)
    house.ended(query_id)
    house.forget()
    with pytest.raises(RequestIdReused):
        house.submit("SELECT 2", request_id)
    assert len(house.engine.runs) == 1


def test_a_request_id_that_only_the_metrics_store_knows_gives_that_query(house: House) -> None:
    request = QueryRequest("SELECT 1", request_id=uuid4())
    first = house.gateway.queries.submit(request, "ann", FULL_ACCESS)
    house.ended(first.query_id)
    house.forget()
    again = house.gateway.queries.submit(request, "ann", FULL_ACCESS)
    assert (again.query_id, again.is_reused) == (first.query_id, True)
    assert house.gateway.queries.finished(first.query_id).done()
    assert house.state(first.query_id) is QueryState.SUCCEEDED
    assert len(house.engine.runs) == 1


def test_a_request_id_that_is_in_memory_or_waits_to_be_written_asks_nothing_of_the_metrics_store(
    build: Build,
) -> None:
    house = build(journal=FakeJournal())
    request_id = uuid4()
    query_id = house.submit("SELECT 1", request_id)
    asked = house.store.lookups
    assert house.submit("SELECT 1", request_id) == query_id
    with pytest.raises(RequestIdReused):
        house.submit("SELECT 2", request_id)
    house.ended(query_id)
    house.forget()
    assert house.submit("SELECT 1", request_id) == query_id
    with pytest.raises(RequestIdReused):
        house.submit("SELECT 2", request_id)
    assert house.store.lookups == asked
    assert len(house.engine.runs) == 1


def test_a_metrics_store_that_is_down_costs_one_wait_and_is_asked_again_after_a_while(house: House) -> None:
    known = uuid4()
    house.ended(house.submit(request_id=known))
    house.forget()
    asked = house.store.lookups
    house.store.is_down = True
    with house.engine.paused():
        for _ in range(3):
            house.submit(request_id=uuid4())
        assert house.store.lookups == asked + 1
        house.clock.advance(timedelta(milliseconds=STORE_REST_MS - 1))
        house.submit(request_id=uuid4())
        assert house.store.lookups == asked + 1
        house.clock.advance(timedelta(milliseconds=1))
        house.submit(request_id=uuid4())
        assert house.store.lookups == asked + 2
        house.store.is_down = False
        house.clock.advance(timedelta(milliseconds=STORE_REST_MS))
        assert house.gateway.queries.submit(
            QueryRequest("SELECT 1", request_id=known), "ann", FULL_ACCESS
        ).is_reused


def test_without_the_metrics_store_a_request_id_is_known_from_memory(build: Build) -> None:
    house = build()
    request_id = uuid4()
    with house.engine.paused():
        house.store.is_down = True
        assert house.submit(request_id=request_id) == house.submit(request_id=request_id)
        house.store.is_down = False


# ---- waiting, canceling, timing out ---------------------------------------------------------------


def test_too_many_that_wait_are_refused_and_leave_nothing_behind(build: Build) -> None:
    house = build(max_queued=1)
    with house.engine.paused():
        running = house.submit()
        house.engine.wait_for_runs(1)
        waiting = house.submit()
        with pytest.raises(TooManyQueries):
            house.submit()
    house.ended(running)
    house.ended(waiting)
    assert len(house.engine.runs) == len(house.store.records) == 2


def test_one_caller_cannot_keep_the_query_of_another_one_from_running_or_waiting(build: Build) -> None:
    house = build(workers=2, max_queued=300)
    with house.engine.paused():
        for _ in range(302):
            house.submit()
        house.engine.wait_for_runs(2)
        with pytest.raises(TooManyQueries):
            house.submit()
        single = house.gateway.queries.submit(QueryRequest("SELECT 'single'"), "bob", FULL_ACCESS).query_id
        house.engine.wait_for_runs(3)
        assert house.gateway.queries.status(single, "bob").record.state is QueryState.RUNNING
        one_more = house.gateway.queries.submit(
            QueryRequest("SELECT 'one more'"), "cas", FULL_ACCESS
        ).query_id
        assert house.gateway.queries.status(one_more, "cas").record.state is QueryState.QUEUED
    house.gateway.queries.finished(one_more).result(PATIENCE_S)


def test_what_is_canceled_while_it_waits_never_runs_but_is_recorded(house: House) -> None:
    with house.engine.paused():
        running = house.submit()
        house.engine.wait_for_runs(1)
        waiting = house.submit()
        house.gateway.queries.cancel(waiting, "ann")
        house.gateway.queries.cancel(waiting, "ann")
        assert house.state(waiting) is QueryState.CANCELED
        assert house.error_code(waiting) == "QUERY_CANCELED"
    house.ended(running)
    house.gateway.close()
    assert [run.query_id for run in house.engine.runs] == [running]
    assert house.engine.cancels == []
    assert [record.query_id for record in house.journal.records] == [waiting, running]


def test_what_is_canceled_while_it_runs_is_stopped_at_the_engine(house: House) -> None:
    with house.engine.paused():
        query_id = house.submit()
        house.engine.wait_for_runs(1)
        assert house.state(query_id) is QueryState.RUNNING
        house.gateway.queries.cancel(query_id, "ann")
        assert house.engine.cancels[0] == query_id
        assert house.error_code(query_id) == "QUERY_CANCELED"
    assert house.state(query_id) is QueryState.CANCELED
    canceled = len(house.engine.cancels)
    house.gateway.queries.cancel(query_id, "ann")
    assert len(house.engine.cancels) == canceled


def test_an_engine_that_missed_a_cancellation_hears_it_again(house: House) -> None:
    house.engine.missed_cancels = 2
    with house.engine.paused():
        query_id = house.submit()
        house.engine.wait_for_runs(1)
        house.gateway.queries.cancel(query_id, "ann")
        house.engine.wait_for_cancels(3)
        assert house.ended(query_id).record.state is QueryState.CANCELED


def test_canceling_what_has_ended_does_nothing_even_after_it_was_forgotten(house: House) -> None:
    query_id = house.submit()
    house.ended(query_id)
    house.gateway.queries.cancel(query_id, "ann")
    house.forget()
    house.gateway.queries.cancel(query_id, "ann")
    assert house.state(query_id) is QueryState.SUCCEEDED
    assert house.engine.cancels == []


def test_a_timeout_ends_what_runs_and_what_waits(house: House) -> None:
    with house.engine.paused():
        running, waiting = house.submit(timeout_ms=1000), house.submit(timeout_ms=1000)
        house.engine.wait_for_runs(1)
        house.clock.advance(timedelta(seconds=1))
        for query_id in (running, waiting):
            assert house.error_code(query_id) == "QUERY_TIMED_OUT"
            assert house.state(query_id) is QueryState.FAILED
    assert [run.query_id for run in house.engine.runs] == [running]


def test_a_timeout_does_not_wait_for_results_that_are_deleted(build: Build) -> None:
    clock = FakeClock()
    results = SlowDeletion(clock)
    house = build(clock=clock, results=results)
    house.ended(house.submit())
    clock.advance(RESULT_TTL + timedelta(milliseconds=1))
    try:
        assert results.has_begun.wait(PATIENCE_S)
        with house.engine.paused():
            late = house.submit(timeout_ms=1000)
            house.engine.wait_for_runs(2)
            clock.advance(timedelta(seconds=1))
            assert house.error_code(late) == "QUERY_TIMED_OUT"
    finally:
        results.may_end.set()


def test_chunks_of_what_has_no_result_are_not_found(build: Build) -> None:
    house = build(FakeEngine(engine_result(), QueryFailed()))
    with house.engine.paused():
        succeeding, failing = house.submit(), house.submit()
        house.engine.wait_for_runs(1)
        with pytest.raises(ChunkNotFound):
            house.gateway.queries.results.chunk(succeeding, 0, "ann")
    house.ended(failing)
    with pytest.raises(ChunkNotFound):
        house.gateway.queries.results.chunk(failing, 0, "ann")
    for index in (-1, 2):
        with pytest.raises(ChunkNotFound, match="0 to 1"):
            house.gateway.queries.results.chunk(succeeding, index, "ann")


# ---- whose query it is ----------------------------------------------------------------------------


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_another_caller_sees_nothing(house: House, is_forgotten: bool) -> None:
    query_id = house.submit()
    house.ended(query_id)
    if is_forgotten:
        house.forget()
    gateway = house.gateway
    for asked in (gateway.queries.status, gateway.queries.cancel, gateway.queries.explainer.explain):
        with pytest.raises(QueryNotFound):
            asked(query_id, "bob")
    with pytest.raises(QueryNotFound):
        gateway.queries.results.chunk(query_id, 0, "bob")
    with pytest.raises(QueryNotFound):
        gateway.queries.status(uuid4(), "ann")


def test_another_caller_cannot_cancel_what_runs(house: House) -> None:
    with house.engine.paused():
        query_id = house.submit()
        house.engine.wait_for_runs(1)
        with pytest.raises(QueryNotFound):
            house.gateway.queries.cancel(query_id, "bob")
    assert house.ended(query_id).record.state is QueryState.SUCCEEDED
    assert house.engine.cancels == []


def test_two_callers_may_use_one_request_id(house: House) -> None:
    request_id = uuid4()
    mine = house.gateway.queries.submit(QueryRequest("SELECT 1", request_id=request_id), "ann", FULL_ACCESS)
    theirs = house.gateway.queries.submit(QueryRequest("SELECT 2", request_id=request_id), "bob", FULL_ACCESS)
    assert mine.query_id != theirs.query_id
    assert not theirs.is_reused


# ---- afterwards -----------------------------------------------------------------------------------


def test_an_explanation_waits_for_the_record_that_follows_the_answer(build: Build) -> None:
    may_render = threading.Event()

    def slow_plan() -> str:
        assert may_render.wait(PATIENCE_S)
        return PLAN

    scans = (scan("lake.tpcds.store_returns", 2003, 366),)
    house = build(FakeEngine(engine_result(scans=scans, plan_text=slow_plan)))
    query_id = house.submit()
    house.gateway.queries.finished(query_id).result(PATIENCE_S)
    with ThreadPoolExecutor(1) as callers:
        asked = callers.submit(house.gateway.queries.explainer.explain, query_id, "ann")
        with pytest.raises(FutureTimeoutError):
            asked.result(0.05)
        may_render.set()
        explanation = asked.result(PATIENCE_S)
    assert (explanation.spark_plan, explanation.scans) == (PLAN, scans)


def test_what_still_runs_is_explained_as_it_stands(house: House) -> None:
    with house.engine.paused():
        query_id = house.submit("SELECT n FROM t")
        house.engine.wait_for_runs(1)
        explanation = house.gateway.queries.explainer.explain(query_id, "ann")
    assert (explanation.state, explanation.sql) == (QueryState.RUNNING, "SELECT n FROM t")


def test_without_the_metrics_store_an_explanation_says_what_is_in_memory(build: Build) -> None:
    scans = (scan("lake.tpcds.store_returns", 2003, 366),)
    house = build(FakeEngine(engine_result(scans=scans)))
    query_id = house.submit()
    house.ended(query_id)
    house.store.is_down = True
    explanation = house.gateway.queries.explainer.explain(query_id, "ann")
    assert (explanation.state, explanation.scans) == (QueryState.SUCCEEDED, scans)
    assert house.state(query_id) is QueryState.SUCCEEDED
    house.forget()
    for asked in (
        house.gateway.queries.status,
        house.gateway.queries.explainer.explain,
        house.gateway.queries.cancel,
    ):
        with pytest.raises(MetricsStoreDown):
            asked(query_id, "ann")


def test_a_result_whose_time_is_over_is_gone_but_the_query_is_known(house: House) -> None:
    query_id = house.submit()
    house.ended(query_id)
    house.clock.advance(RESULT_TTL)
    with pytest.raises(ResultExpired):
        house.gateway.queries.results.chunk(query_id, 0, "ann")
    house.forget()
    with pytest.raises(ResultExpired):
        house.gateway.queries.results.chunk(query_id, 0, "ann")
    assert house.state(query_id) is QueryState.SUCCEEDED
    assert house.gateway.queries.explainer.explain(query_id, "ann").spark_plan == PLAN


def test_a_query_has_taken_as_long_after_it_was_forgotten_as_before(build: Build) -> None:
    house = build(FakeEngine(engine_result(), QueryFailed()))
    with house.engine.paused():
        queries = [house.submit(), house.submit()]
        house.engine.wait_for_runs(1)
        house.clock.advance(timedelta(milliseconds=700))
    before = [house.ended(query).elapsed_ms for query in queries]
    house.forget()
    assert [house.status(query).elapsed_ms for query in queries] == before
    assert min(before) == 700


def test_a_result_that_the_store_gave_up_is_reported_as_gone(house: House) -> None:
    query_id = house.submit()
    house.ended(query_id)
    house.results.drop(query_id)
    assert house.status(query_id).manifest is not None
    for _ in range(2):
        with pytest.raises(ResultExpired):
            house.gateway.queries.results.chunk(query_id, 0, "ann")
    assert house.status(query_id).manifest is None
    assert house.state(query_id) is QueryState.SUCCEEDED


def test_tables_and_parts_are_passed_through(house: House) -> None:
    assert house.gateway.tables("lake", "tpcds").tables == (ITEM,)
    assert house.gateway.table(ITEM).name == ITEM
    assert {part.name for part in house.gateway.readiness().parts} == {
        "engine",
        "queryWorkers",
        "metricsStore",
        "filterCache",
        "catalog:lake",
    }
    house.store.is_down = house.filter_cache.is_down = True
    house.catalogs.down.add("lake")
    readiness = house.gateway.readiness()
    assert (readiness.is_ready, readiness.is_degraded) == (True, True)
    house.engine.close()
    readiness = house.gateway.readiness()
    assert not readiness.is_ready
    are_down = {part.name for part in readiness.parts if part.state is PartState.DOWN}
    assert are_down == {"engine", "metricsStore", "filterCache", "catalog:lake"}


class SlowParts:
    """Parts that answer only once all of them have been asked."""

    def __init__(self) -> None:
        together = threading.Barrier(3)

        class Store(CountingStore):
            def health(self) -> PartHealth:
                together.wait(PATIENCE_S / 4)
                return super().health()

        class Cache(FakeFilterCache):
            def health(self) -> PartHealth:
                together.wait(PATIENCE_S / 4)
                return super().health()

        class Catalogs(FakeCatalogs):
            def health(self) -> Sequence[PartHealth]:
                together.wait(PATIENCE_S / 4)
                return super().health()

        self.store, self.filter_cache, self.catalogs = Store(), Cache(), Catalogs()


def test_the_process_is_alive_until_its_engine_was_down_for_too_long(house: House) -> None:
    for down_s, is_alive in ((0.0, True), (315.0, True), (315.5, False), (0.0, True)):
        house.engine.down_s = down_s
        assert house.gateway.liveness().is_alive is is_alive


def test_the_parts_are_asked_at_once(build: Build) -> None:
    parts = SlowParts()
    house = build(store=parts.store, filter_cache=parts.filter_cache, catalogs=parts.catalogs)
    assert house.gateway.readiness().is_ready


# ---- the end --------------------------------------------------------------------------------------


def test_closing_waits_for_what_runs_and_what_waits(house: House) -> None:
    with ThreadPoolExecutor(1) as callers, house.engine.paused():
        queries = [house.submit(), house.submit()]
        house.engine.wait_for_runs(1)
        closing = callers.submit(house.gateway.close)
        with pytest.raises(FutureTimeoutError):
            closing.result(0.05)
        with pytest.raises(ShuttingDown):
            house.submit()
        house.engine.release()
        closing.result(PATIENCE_S)
    assert [house.state(query) for query in queries] == [QueryState.SUCCEEDED] * 2
    assert house.engine.is_closed
    assert house.journal.is_closed
    assert house.closings == 1


def test_closing_cancels_what_is_late_and_records_it(build: Build) -> None:
    house = build(shutdown_timeout_s=0.0)
    with house.engine.paused():
        running = house.submit()
        house.engine.wait_for_runs(1)
        waiting = house.submit()
        house.gateway.close()
    for query_id in (running, waiting):
        assert house.state(query_id) is QueryState.CANCELED
        record = house.store.find(query_id)
        assert record is not None
        assert record.error is not None
        assert record.error.detail == "The gateway is shutting down."
    assert [run.query_id for run in house.engine.runs] == [running]


class SlowEngine(FakeEngine):
    """Its queries end a given time after the stop began."""

    def __init__(self, clock: FakeClock, seconds: float) -> None:
        super().__init__()
        self._clock = clock
        self._seconds = seconds

    def close(self) -> None:
        self._clock.advance(timedelta(seconds=self._seconds))
        super().close()


class TimedIngests(FakeIngests):
    """Records how long it may wait for its commits."""

    timeouts_s: tuple[float, ...] = ()

    def close(self, timeout_s: float) -> None:
        self.timeouts_s += (timeout_s,)
        super().close(timeout_s)


@pytest.mark.parametrize(
    ("bound_s", "queries_s", "commits_s"), [(20.0, 15.0, 5.0), (20.0, 19.9, ENDING_S), (0.0, 3.0, 0.0)]
)
def test_commits_have_what_the_queries_left_of_the_time_that_a_stop_may_take(
    build: Build, bound_s: float, queries_s: float, commits_s: float
) -> None:
    clock, ingests = FakeClock(), TimedIngests()
    house = build(SlowEngine(clock, queries_s), clock=clock, ingests=ingests, shutdown_timeout_s=bound_s)
    house.gateway.close()
    assert ingests.timeouts_s == (commits_s,)


class ClosingClock(FakeClock):
    """A clock that closes the gateway in the middle of a submit."""

    close: Callable[[], None] | None = None

    def now(self) -> datetime:
        close, self.close = self.close, None
        if close is not None:
            close()
        return super().now()


def test_a_submit_that_a_close_overtakes_is_refused_and_leaves_nobody_waiting(build: Build) -> None:
    clock = ClosingClock()
    house = build(clock=clock)
    clock.close = house.gateway.close
    with pytest.raises(ShuttingDown):
        house.submit()
    assert house.gateway.queries.registry.open() == []
    assert house.engine.runs == []
    assert [record.error and record.error.code for record in house.store.records] == ["SHUTTING_DOWN"]


# ---- looking back ---------------------------------------------------------------------------------


def test_what_waits_runs_and_has_ended_is_listed_together_and_once(house: House) -> None:
    ended = house.submit("SELECT 1")
    house.ended(ended)
    with house.engine.paused():
        house.clock.advance(timedelta(seconds=1))
        running = house.submit("SELECT 2")
        house.engine.wait_for_runs(2)
        house.clock.advance(timedelta(seconds=1))
        waiting = house.submit("SELECT 3")
        house.clock.advance(timedelta(seconds=1))
        status, explained = (
            house.gateway.queries.status(waiting, "ann"),
            house.gateway.queries.explainer.explain(waiting, "ann"),
        )
        listed = house.gateway.queries.overview.list_queries(QueryListing("ann", limit=10))
        newest = house.gateway.queries.overview.list_queries(QueryListing("ann", limit=2))
        queued = house.gateway.queries.overview.list_queries(
            QueryListing("ann", limit=2, state=QueryState.QUEUED)
        )
        older = house.gateway.queries.overview.list_queries(
            QueryListing("ann", limit=9, before=listed[1].position)
        )
        house.gateway.metrics()
    assert [summary.query_id for summary in listed] == [waiting, running, ended]
    assert [summary.state.value for summary in listed] == ["QUEUED", "RUNNING", "SUCCEEDED"]
    assert [(summary.queued_ms, summary.elapsed_ms) for summary in listed] == [
        (1000, 1000),
        (0, 2000),
        (0, 0),
    ]
    assert (status.record.queued_ms, status.elapsed_ms, explained.queued_ms) == (1000, 1000, 1000)
    assert newest == listed[:2]
    assert queued == listed[:1]
    assert older == listed[2:]
    assert house.metrics.open_queries == {QueryState.QUEUED: 1, QueryState.RUNNING: 1}
    assert house.gateway.queries.overview.list_queries(QueryListing("bob", limit=10)) == []


def test_a_summary_is_that_of_the_last_day_unless_another_moment_is_named(house: House) -> None:
    record = full_record()
    house.store.record([replace(record, submitted_at=house.clock.now())])
    assert house.gateway.queries.overview.pruning_summary(None, None).tables
    house.clock.advance(timedelta(days=1, seconds=1))
    summary = house.gateway.queries.overview.pruning_summary(None, None)
    assert (summary.tables, summary.since) == ([], house.clock.now() - timedelta(days=1))
    assert house.gateway.queries.overview.pruning_summary(house.clock.now() - timedelta(days=2), None).tables


def test_without_the_metrics_store_there_is_no_looking_back(house: House) -> None:
    house.store.is_down = True
    with pytest.raises(MetricsStoreDown):
        house.gateway.queries.overview.list_queries(QueryListing("ann", limit=10))
    with pytest.raises(MetricsStoreDown):
        house.gateway.queries.overview.pruning_summary(None, None)
    assert house.gateway.metrics()


@pytest.mark.parametrize("is_deciding", [True, False])
def test_a_gateway_that_decides_by_policies_is_ready_when_they_are_read(
    house: House, is_deciding: bool
) -> None:
    store = FakePolicyStore(house.clock)
    live = LivePolicies(store, house.clock) if is_deciding else None
    house.gateway._policy_service = fake_policies(house.catalogs.tables, store, live=live)
    assert house.gateway.readiness().is_ready is not is_deciding
    if live is not None:
        live.refresh()
        assert "policies" in {part.name for part in house.gateway.readiness().parts}
    assert house.gateway.readiness().is_ready
