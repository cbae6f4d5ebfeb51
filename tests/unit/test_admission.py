"""Queries are planned, wait in their resource groups, and run: the service with all of its threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import pytest

from service.errors.query_errors import QuotaExhausted, TooManyQueries
from service.errors.statement_errors import SqlInvalid
from service.model.operations.resource_groups import (
    ResourceGroup,
    ResourceGroups,
    Selector,
    WhenExhausted,
)
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.planned_work import PlannedWork
from service.model.query.query import QueryRequest, QueryState
from service.query.admission.slot_bounds import SlotBounds
from service.query.execution.run_query import QueryPorts
from service.query.query_service import QueryBounds, QueryService
from service.query.registry.query_status import QueryStatus
from service.query.registry.readable_results import ReadableResults
from service.query.workers.admission_rules import AdmissionRules, default_rules
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.journal import FakeJournal
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.pruner import pruner
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.result_store import FakeResultStore

HEAVY = "SELECT sum(x) FROM heavy"
PATIENCE_S = 20.0
T = TypeVar("T")
SLOTS = SlotBounds(
    long_slots=3, max_queued=20, short_slots=2, short_max_bytes=1000, planners=3, planned_ahead=2
)


class FakeCpuTimes:
    """Returns each of `used` once."""

    def __init__(self) -> None:
        self.used: dict[UUID, int] = {}

    def taken(self) -> dict[UUID, int]:
        used, self.used = self.used, {}
        return used


class House:
    """A query service, and its fakes."""

    def __init__(self, rules: AdmissionRules) -> None:
        self.engine = FakeEngine()
        self.engine.works[HEAVY] = PlannedWork(1 << 40)
        self.clock = FakeClock()
        self.cpu_times = FakeCpuTimes()
        store, catalogs = FakeMetricsStore(), FakeCatalogs()
        self.journal = FakeJournal(store)
        results = FakeResultStore(self.clock)
        ports = QueryPorts(
            engine=self.engine,
            catalogs=catalogs,
            results=results,
            readable=ReadableResults(results),
            journal=self.journal,
            clock=self.clock,
            pruner=pruner(catalogs, self.engine, FakeFilterCache(), self.clock),
            max_sql_bytes=1000,
            engine_retries=0,
            cpu_times=self.cpu_times,
        )
        bounds = QueryBounds(workers=2, max_queued=20, result_ttl_ms=60_000, admission=rules)
        self.queries = QueryService(ports, store, FakeQueryHistory(store), bounds)
        self.owners: dict[UUID, str] = {}

    def submit(self, caller: str, sql: str = HEAVY, roles: tuple[str, ...] = (), **tags: str) -> UUID:
        request = QueryRequest(sql, tags=tags, timeout_ms=3_600_000 * 10)
        query_id = self.queries.submit(request, caller, FULL_ACCESS, roles).query_id
        self.owners[query_id] = caller
        return query_id

    def status(self, query_id: UUID) -> QueryStatus:
        return self.queries.status(query_id, self.owners[query_id])

    def state(self, query_id: UUID) -> QueryState:
        return self.status(query_id).record.state

    def ended(self, query_id: UUID) -> QueryState:
        finished: Future[None] = self.queries.finished(query_id)
        finished.result(PATIENCE_S)
        return self.state(query_id)

    def until_waiting(self, queries: list[UUID], count: int) -> list[int]:
        """Waits until so many of the queries were planned and wait for a slot; returns their places, sorted.

        Planners work side by side: the query that was sent last may be planned first, and run.
        """

        def waiting() -> list[int] | None:
            places = [status.queue.position for status in map(self.status, queries) if status.queue]
            found = sorted(place for place in places if place > 0)
            return found if len(found) == count else None

        return until(waiting)

    def until_planned(self, query_id: UUID) -> QueryStatus:
        """Waits until the query has left its planner."""

        def planned() -> QueryStatus | None:
            status = self.status(query_id)
            return status if status.queue is not None and status.queue.position > 0 else None

        return until(planned)

    def until_idle(self) -> None:
        """Waits until no query is open: a worker leaves its query a moment after its end."""
        until(lambda: True if self._is_idle() else None)

    def _is_idle(self) -> bool:
        return all(use.queued == use.running == 0 for use in self.queries.workers.group_use())

    def close(self) -> None:
        self.engine.release()
        self.queries.stop_taking()
        self.queries.end(0)
        self.queries.close()


def until(look: Callable[[], T | None]) -> T:
    """Asks until there is an answer, and returns it."""
    deadline_s = time.monotonic() + PATIENCE_S
    while (found := look()) is None:
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
    return found


@pytest.fixture
def house() -> Iterator[House]:
    built = House(default_rules(SLOTS))
    yield built
    built.close()


def in_groups(*groups: ResourceGroup, selectors: tuple[Selector, ...] = ()) -> AdmissionRules:
    rest = Selector(group=(groups[-1].name,))
    return AdmissionRules(
        ResourceGroups(root_groups=groups, selectors=(*selectors, rest)), SLOTS, has_pools=True
    )


def test_heavy_queries_on_all_workers_do_not_hold_up_a_short_one(house: House) -> None:
    with house.engine.paused():
        heavy = [house.submit(caller) for caller in ("ann", "ann", "bob", "bob")]
        house.engine.wait_for_runs(3)
        assert sorted(map(house.state, heavy)) == ["QUEUED", "RUNNING", "RUNNING", "RUNNING"]
        short = house.submit("cas", "SELECT 1")
        house.engine.wait_for_runs(4)
        assert house.state(short) is QueryState.RUNNING
    assert {house.ended(query_id) for query_id in (*heavy, short)} == {QueryState.SUCCEEDED}
    assert house.engine.pools.count("short") == 1
    assert house.engine.pools.count("queries") == 4


def test_a_query_that_waits_says_where_and_for_how_long(house: House) -> None:
    house.ended(house.submit("ann"))
    with house.engine.paused():
        running = [house.submit("ann"), house.submit("ann"), house.submit("bob")]
        house.engine.wait_for_runs(4)
        waiting = house.submit("ann")
        status = house.until_planned(waiting)
        assert status.queue is not None
        assert (status.queue.position, status.queue.group) == (1, "global.ann")
        assert status.queue.estimated_wait_ms is not None
        assert status.record.state is QueryState.QUEUED
        house.clock.advance(timedelta(seconds=5))
        assert house.status(waiting).record.queued_ms == 5000
    assert house.ended(waiting) is QueryState.SUCCEEDED
    assert house.status(waiting).queue is None
    record = house.status(waiting).record
    assert record.queued_ms + record.planning_ms + record.running_ms == 5000
    assert record.queued_ms == 5000
    for query_id in running:
        house.ended(query_id)


def test_a_query_that_is_planned_again_leaves_one_record(house: House) -> None:
    with house.engine.paused():
        queries = [house.submit("ann") for _ in range(5)]
        house.engine.wait_for_runs(2)
        house.until_waiting(queries, 3)
    for query_id in queries:
        assert house.ended(query_id) is QueryState.SUCCEEDED
    house.queries.end(PATIENCE_S)
    assert sorted(record.query_id for record in house.journal.records) == sorted(queries)


def test_a_long_query_that_is_sent_again_is_planned_once_however_long_it_waits(house: House) -> None:
    house.ended(house.submit("ann"))
    with house.engine.paused():
        queries = [house.submit("ann") for _ in range(6)]
        house.engine.wait_for_runs(3)
        assert house.until_waiting(queries, 4) == [1, 2, 3, 4]
        # Another one of the same caller is planned, and passes them.
        short = house.submit("ann", "SELECT 1")
        house.engine.wait_for_runs(4)
        assert house.state(short) is QueryState.RUNNING
    for query_id in (*queries, short):
        assert house.ended(query_id) is QueryState.SUCCEEDED
    assert house.engine.admissions_asked == 1 + 6 + 1


def test_a_query_that_cannot_be_planned_fails_without_a_slot(house: House) -> None:
    with house.engine.paused():
        for caller in ("ann", "ann", "bob"):
            house.submit(caller)
        house.engine.wait_for_runs(3)
        assert house.ended(house.submit("cas", "  ")) is QueryState.FAILED


def test_a_waiting_query_that_is_canceled_or_too_late_frees_its_place(house: House) -> None:
    with house.engine.paused():
        for _ in range(2):
            house.submit("ann")
        house.engine.wait_for_runs(2)
        canceled = house.submit("ann")
        house.until_planned(canceled)
        house.queries.cancel(canceled, "ann")
        assert house.state(canceled) is QueryState.CANCELED
        late = house.queries.submit(QueryRequest(HEAVY, timeout_ms=1000), "ann", FULL_ACCESS).query_id
        house.owners[late] = "ann"
        house.until_planned(late)
        house.clock.advance(timedelta(seconds=2))
        assert house.ended(late) is QueryState.FAILED
        use = house.queries.workers.group_use()
        assert [(one.queued, one.running) for one in use] == [(0, 2)]


def test_selectors_choose_by_caller_role_and_tag() -> None:
    small = ResourceGroup(name="small", hard_concurrency_limit=1, max_queued=0)
    rest = ResourceGroup(name="rest", hard_concurrency_limit=5, max_queued=10)
    rules = in_groups(
        small,
        rest,
        selectors=(
            Selector(group=("small",), user="etl:*", tags={"kind": "nightly"}),
            Selector(group=("small",), roles=frozenset({"guests"})),
        ),
    )
    house = House(rules)
    try:
        with house.engine.paused():
            first = house.submit("etl:7", kind="nightly")
            house.engine.wait_for_runs(1)
            with pytest.raises(TooManyQueries, match="small"):
                house.submit("gus", roles=("guests",))
            others = [house.submit("etl:7"), house.submit("gus")]
            house.engine.wait_for_runs(3)
        for query_id in (first, *others):
            assert house.ended(query_id) is QueryState.SUCCEEDED
        assert house.engine.pools == ["queries.small", "queries.rest", "queries.rest"]
    finally:
        house.close()


def test_cpu_time_of_running_queries_uses_up_the_budget_of_their_group() -> None:
    budget = ResourceGroup(
        name="etl",
        hard_concurrency_limit=4,
        max_queued=10,
        hard_cpu_limit_ms=1000,
        when_exhausted=WhenExhausted.REFUSE,
    )
    house = House(in_groups(budget))
    try:
        with house.engine.paused():
            running = house.submit("ann")
            house.engine.wait_for_runs(1)
            house.cpu_times.used[running] = 2000

            def refused() -> QuotaExhausted | None:
                # One that came just before the time was charged waits for the next hour.
                try:
                    house.submit("ann", "  ")
                except QuotaExhausted as failure:
                    return failure
                except TooManyQueries:
                    return None
                return None

            assert until(refused).retry_after_s == 3601
        assert house.ended(running) is QueryState.SUCCEEDED
    finally:
        house.close()


def test_a_query_runs_once_the_budget_of_its_group_has_come_back() -> None:
    budget = ResourceGroup(name="etl", hard_concurrency_limit=4, max_queued=10, hard_scan_limit_bytes=1 << 39)
    house = House(in_groups(budget))
    try:
        # It reads nothing in the end, but fails: what was planned stays counted.
        house.engine.outcomes.append(SqlInvalid("no"))
        assert house.ended(house.submit("ann")) is QueryState.FAILED
        waiting = house.submit("ann")
        status = house.status(waiting)
        assert status.queue is not None
        assert status.queue.estimated_wait_ms == 3_600_001
        house.clock.advance(timedelta(hours=1, seconds=1))
        assert house.ended(waiting) is QueryState.SUCCEEDED
    finally:
        house.close()


def test_a_flood_of_a_thousand_ends_with_each_query_answered_or_refused(house: House) -> None:
    accepted, refused = [], 0
    for number in range(1000):
        try:
            accepted.append(house.submit("abc"[number % 3], HEAVY if number % 2 else "SELECT 1"))
        except TooManyQueries:
            refused += 1
    assert {house.ended(query_id) for query_id in accepted} == {QueryState.SUCCEEDED}
    assert len(accepted) + refused == 1000
    house.until_idle()
