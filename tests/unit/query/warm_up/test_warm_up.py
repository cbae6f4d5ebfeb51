"""A new engine runs what was asked most, within bounds, and never what failed or writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from service.errors.query_errors import QueryFailed
from service.errors.unavailable import MetricsStoreDown
from service.model.query.query import QueryState
from service.query.explaining.planning_service import PlanningService
from service.query.warm_up.warm_up import LOOK_EVERY_S, RETRY_EVERY_S, WarmUp, WarmUpBounds
from tests.fakes.engine import FakeEngine
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.query_records import SUBMITTED_AT, short_record
from tests.unit.query.conftest import Bench

BOUNDS = WarmUpBounds(queries=3, history=timedelta(days=7), query_s=20, total_s=60)


@dataclass
class Rig:
    """A warm-up whose engine, load and history a test sets."""

    bench: Bench
    plannings: PlanningService
    store: FakeMetricsStore = field(default_factory=FakeMetricsStore)
    warm: object | None = "first"
    busy: list[bool] = field(default_factory=list)
    pauses: int = 0
    next_engine: object | None = None
    """The engine after the first pause, if it is another one."""

    def asked(self, *texts: str, running_ms: int = 0) -> None:
        """Records texts, each one more often than the next."""
        for place, sql in enumerate(reversed(texts), start=1):
            record = replace(
                short_record(SUBMITTED_AT), sql=sql, state=QueryState.SUCCEEDED, running_ms=running_ms
            )
            self.store.record(
                [replace(record, query_id=short_record(SUBMITTED_AT).query_id) for _ in range(place)]
            )

    def warm_up(self, bounds: WarmUpBounds = BOUNDS) -> WarmUp:
        history = FakeQueryHistory(self.store)
        return WarmUp(
            self.plannings, history, lambda: self.warm, self._is_busy, bounds, self.bench.clock, self._pause
        )

    def ran(self) -> list[str]:
        return [statement.sql for statement in self.bench.engine.runs]

    def _is_busy(self) -> bool:
        return self.busy.pop(0) if self.busy else False

    def _pause(self, seconds: float) -> None:
        self.pauses += 1
        self.warm = self.next_engine or self.warm
        self.bench.clock.advance(timedelta(seconds=seconds))


@pytest.fixture
def rig(bench: Bench) -> Iterator[Rig]:
    bench.clock.jump(SUBMITTED_AT + timedelta(hours=1) - bench.clock.now())
    plannings = PlanningService(bench.ports, count=1, max_waiting=1)
    yield Rig(bench, plannings)
    bench.engine.release()
    plannings.close()


def test_each_new_engine_runs_the_most_frequent_texts_once(rig: Rig) -> None:
    rig.asked("SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4")
    warm_up = rig.warm_up()
    warm_up.look()
    warm_up.look()
    assert rig.ran() == ["SELECT 1", "SELECT 2", "SELECT 3"]
    assert {statement.row_limit for statement in rig.bench.engine.runs} == {1}
    rig.warm = "second"
    warm_up.look()
    assert rig.ran() == ["SELECT 1", "SELECT 2", "SELECT 3"] * 2


def test_nothing_runs_without_an_engine_or_a_history(rig: Rig) -> None:
    rig.warm = None
    rig.asked("SELECT 1")
    warm_up = rig.warm_up()
    warm_up.look()
    assert rig.ran() == []
    rig.warm = "first"
    rig.store.is_down = True
    with pytest.raises(MetricsStoreDown):
        warm_up.look()
    assert warm_up.pause_s == RETRY_EVERY_S
    rig.store.is_down = False
    warm_up.look()
    assert (rig.ran(), warm_up.pause_s) == (["SELECT 1"], LOOK_EVERY_S)


@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO t VALUES (1)", "WITH x AS (SELECT 1) INSERT INTO t FROM x", "SET a = 1", "SHOW TABLES"],
)
def test_a_statement_that_is_no_query_does_not_run(rig: Rig, sql: str) -> None:
    rig.asked(sql, "SELECT 1")
    rig.warm_up().look()
    assert rig.ran() == ["SELECT 1"]


def test_a_text_whose_values_are_not_known_makes_room_for_the_next(rig: Rig) -> None:
    rig.asked("SELECT ?", "SELECT 2")
    rig.warm_up(replace(BOUNDS, queries=1)).look()
    assert rig.ran() == ["SELECT 2"]


def test_a_text_that_failed_is_not_tried_on_the_next_engine(rig: Rig) -> None:
    rig.bench.engine = FakeEngine(QueryFailed("It is too large."))
    rig.plannings = PlanningService(rig.bench.ports, count=1, max_waiting=1)
    rig.asked("SELECT 1", "SELECT 2")
    warm_up = rig.warm_up()
    warm_up.look()
    rig.warm = "second"
    warm_up.look()
    assert rig.ran() == ["SELECT 1", "SELECT 2", "SELECT 2"]
    rig.plannings.close()


def test_a_text_that_hangs_is_given_up_and_the_next_one_runs(rig: Rig) -> None:
    rig.asked("SELECT 1", "SELECT 2")
    with rig.bench.engine.paused():
        rig.warm_up(replace(BOUNDS, query_s=0.05)).look()
    assert rig.ran() == ["SELECT 1", "SELECT 2"]
    assert len(rig.bench.engine.cancels) == 2


def test_it_waits_while_callers_ask_and_no_longer_than_it_may(rig: Rig) -> None:
    rig.asked("SELECT 1", "SELECT 2")
    rig.busy = [True, True, False]
    rig.warm_up().look()
    assert (rig.ran(), rig.pauses) == (["SELECT 1", "SELECT 2"], 2)
    rig.warm, rig.busy = "second", [True] * 1000
    rig.warm_up(replace(BOUNDS, total_s=1)).look()
    assert rig.ran() == ["SELECT 1", "SELECT 2"]


def test_it_ends_with_its_engine(rig: Rig) -> None:
    rig.asked("SELECT 1", "SELECT 2")
    rig.busy, rig.next_engine = [False, True], "second"
    rig.warm_up().look()
    assert rig.ran() == ["SELECT 1"]


def test_what_runs_is_marked_as_asked_by_no_caller(rig: Rig) -> None:
    rig.asked("SELECT 1")
    rig.warm_up().look()
    assert [statement.is_rehearsal for statement in rig.bench.engine.runs] == [True]


def test_a_text_that_took_longer_than_it_may_does_not_run(rig: Rig) -> None:
    rig.asked("SELECT 1", running_ms=20_001)
    rig.asked("SELECT 2", running_ms=19_000)
    rig.warm_up().look()
    assert rig.ran() == ["SELECT 2"]


def test_an_engine_on_which_a_text_does_not_end_is_left_alone(rig: Rig) -> None:
    rig.asked("SELECT 1", "SELECT 2")
    rig.bench.engine.missed_cancels = 10
    with rig.bench.engine.paused():
        rig.warm_up(replace(BOUNDS, query_s=0.05, end_s=0.05)).look()
    assert rig.ran() == ["SELECT 1"]


def test_a_text_ends_when_the_gateway_takes_no_more(rig: Rig) -> None:
    rig.asked("SELECT 1", "SELECT 2")
    warm_up = rig.warm_up()
    with rig.bench.engine.paused():
        looking = threading.Thread(target=warm_up.look, daemon=True)
        looking.start()
        rig.bench.engine.wait_for_runs(1)
        rig.warm = None
        looking.join(5)
        assert not looking.is_alive()
    assert (rig.ran(), len(rig.bench.engine.cancels)) == (["SELECT 1"], 1)
