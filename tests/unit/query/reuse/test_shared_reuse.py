"""Two gateways that share results: generated orders of what may happen at both."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from service.errors.query_errors import QueryFailed
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed
from service.model.query.query import QueryState
from service.model.query.reuse import ReuseChoice
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.reuse_lookup import ReuseBounds
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine, engine_result
from tests.fakes.shared_reuse import LEASE_MS, FakeRunLeases, SharedReuse
from tests.thorough import IS_THOROUGH
from tests.unit.query.conftest import Bench
from tests.unit.query.reuse.rig import SALES, Rig
from tests.unit.query.reuse.test_result_reuse import access

ORDERS = 2_000 if IS_THOROUGH else 100
MAX_WAIT_MS = 30_000
TIMEOUT_MS = 600_000


class ReadingEngine(FakeEngine):
    """Its rows are the table's snapshot, and what the principal sees. `while_running` happens after that."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self.while_running: list[str] = []

    def run(self, statement: Statement) -> EngineResult:
        outcome = super().run(statement)
        assert outcome.rows is not None
        rows = pa.table({"snapshot": [self._world.version], "seen": [seen_by(statement.access)]})
        for step in self.while_running:
            self._world.do(step)
        self.while_running = []
        return replace(engine_result(), rows=rows)


def seen_by(principal: Access) -> str:
    decision = principal.decide(Action.SELECT, SALES)
    assert isinstance(decision, Allowed)
    return decision.restriction.row_filter or ""


@pytest.fixture(autouse=True)
def _without_logs() -> Iterator[None]:
    # A traceback of each failure takes longer to be shown than everything else.
    with capture_logs():
        yield


@dataclass
class Submitted:
    gateway: int
    query: QueryHandle
    version: int
    ended_at: int | None = None


@dataclass
class World:
    """Two gateways over one catalog, one store of results and one clock."""

    seed: int = 0
    clock: FakeClock = field(default_factory=FakeClock)
    gateways: list[Rig] = field(default_factory=list)
    dead: set[int] = field(default_factory=set)
    submitted: list[Submitted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.shared = SharedReuse(self.clock)
        for _ in range(2):
            bench = Bench(clock=self.clock, engine=ReadingEngine(self))
            bounds = ReuseBounds(settings="equal", max_wait_ms=MAX_WAIT_MS)
            rig = Rig(bench=bench, index=self.shared.index(), bounds=bounds)
            rig.leases = FakeRunLeases(self.shared)
            if self.gateways:
                bench.catalogs = self.gateways[0].bench.catalogs
                bench.results = self.gateways[0].bench.results
            rig.reuse = rig.new_reuse()
            self.gateways.append(rig)

    @property
    def version(self) -> int:
        return len(self.gateways[0].bench.catalogs.facts(SALES).snapshots)

    @property
    def runs(self) -> int:
        return sum(len(rig.bench.engine.runs) for rig in self.gateways)

    def do(self, step: str) -> None:
        """Does one step, at one of the gateways that are alive."""
        number = self.random.choice([number for number in (0, 1) if number not in self.dead])
        steps = {
            "submit": lambda: self.submit(number, self.random.choice([None, None, "region = 'A'"])),
            "refresh": lambda: self.submit(number, None, reuse=ReuseChoice.REFRESH),
            "run": lambda: self.run(number),
            "poll": lambda: self.gateways[number].reuse.poll(),
            "cancel": lambda: self.cancel(self.random.choice(self.submitted)),
            "wait": lambda: self.clock.advance(timedelta(milliseconds=self.random.choice(PAUSES_MS))),
            "commit": lambda: self.gateways[number].bench.catalogs.append(SALES, 1),
            "fail": lambda: self.gateways[number].bench.engine.outcomes.append(QueryFailed("1 / 0")),
            "die": lambda: self.die(number),
            "away": lambda: setattr(self.shared, "is_down", not self.shared.is_down),
            "lose results": self.lose_results,
            "lose entries": self.shared.entries.clear,
            "lose leases": self.shared.leases.clear,
        }
        if self.submitted or step in ("submit", "commit"):
            steps[step]()

    def die(self, number: int) -> None:
        """Ends a gateway without a word, unless it is the last one."""
        if not self.dead:
            self.dead.add(number)

    def lose_results(self) -> None:
        for submitted in self.submitted:
            self.gateways[0].bench.results.drop(submitted.query.query_id)

    def submit(self, number: int, where: str | None, reuse: ReuseChoice = ReuseChoice.USE) -> None:
        version = self.version
        query = self.gateways[number].submit(
            access=access(SALES, where=where), reuse=reuse, timeout_ms=TIMEOUT_MS
        )
        submitted = Submitted(number, query, version)
        self.submitted.append(submitted)
        query.finished.add_done_callback(lambda _: setattr(submitted, "ended_at", self.version))

    def run(self, number: int, *while_running: str) -> None:
        if not self.gateways[number].waiting:
            return
        engine = self.gateways[number].bench.engine
        assert isinstance(engine, ReadingEngine)
        engine.while_running = [*while_running]
        self.gateways[number].run()

    def cancel(self, submitted: Submitted) -> None:
        query = submitted.query
        if query.record.state is QueryState.QUEUED and submitted.gateway not in self.dead:
            self.gateways[submitted.gateway].cancel(query)

    def end(self) -> None:
        """Lets everything that is open at a gateway that is alive come to its end."""
        for _ in range(MAX_WAIT_MS // 1000 + 10):
            for number in {0, 1} - self.dead:
                self.gateways[number].reuse.poll()
                while self.gateways[number].waiting:
                    self.run(number)
            if all(each.query.record.state.is_final for each in self.open()):
                return
            self.clock.advance(timedelta(seconds=1))

    def open(self) -> list[Submitted]:
        """Returns the queries of gateways that are alive."""
        return [submitted for submitted in self.submitted if submitted.gateway not in self.dead]

    def check(self) -> None:
        """Each answer is one that a run would have given between its submission and its end."""
        for submitted in self.open():
            record = submitted.query.record
            assert record.state.is_final, "nobody waits for ever"
            if record.state is not QueryState.SUCCEEDED or not submitted.query.has_result():
                continue
            rows = self.rows(submitted.query.query_id)
            if rows is None:
                continue
            assert submitted.ended_at is not None
            assert submitted.version <= rows["snapshot"] <= submitted.ended_at
            assert rows["seen"] == seen_by(submitted.query.access)

    def rows(self, query_id: UUID) -> dict[str, Any] | None:
        results = self.gateways[0].bench.results
        if results.manifest(query_id) is None:
            return None
        [row] = results.chunk(query_id, 0).to_pylist()
        found: dict[str, Any] = row
        return found


STEPS = ["submit"] * 6 + ["run"] * 4 + ["poll"] * 4 + ["wait"] * 2
ACCIDENTS = [
    *("commit", "commit", "cancel", "refresh", "fail", "die"),
    *("away", "lose results", "lose entries", "lose leases"),
]
PAUSES_MS = [100, 1_000, LEASE_MS]


@pytest.mark.parametrize("accidents", [("commit",), tuple(ACCIDENTS)], ids=["commits", "all"])
def test_no_answer_is_stale_and_nobody_waits_for_ever(accidents: tuple[str, ...]) -> None:
    reused = 0
    for seed in range(ORDERS):
        world = World(seed)
        choices = world.random.choices([*STEPS, *accidents], k=40)
        while choices:
            step = choices.pop()
            number = world.random.randrange(2)
            if step == "run" and number not in world.dead:
                count = world.random.randrange(3)
                nested = [each for each in choices[:count] if each != "run"]
                world.run(number, *nested)
                del choices[:count]
            else:
                world.do(step)
        world.end()
        world.check()
        reused += sum(submitted.query.record.reused is not None for submitted in world.submitted)
    assert reused > ORDERS


def test_without_accidents_equal_queries_run_once_for_all_gateways() -> None:
    for seed in range(ORDERS):
        world = World(seed)
        for step in world.random.choices(["submit 0", "submit 1", "run", "poll", "wait"], k=25):
            if step.startswith("submit"):
                world.submit(int(step[-1]), None)
            elif step == "wait":
                # Less than a lease lives without being renewed.
                world.clock.advance(timedelta(milliseconds=500))
                for rig in world.gateways:
                    rig.reuse.poll()
            else:
                world.do(step)
        if world.submitted:
            world.end()
            assert world.runs == 1
            world.check()


# ---- one case after the other -----------------------------------------------------------------------


@pytest.fixture
def world() -> World:
    return World()


def test_a_result_of_one_gateway_answers_at_the_other(world: World) -> None:
    here, there = world.gateways
    first = here.ran()
    # It has to learn the text, and then it need not run.
    again = there.ran()
    third = there.submit()
    assert world.runs == 1
    for query in (again, third):
        reused = query.record.reused
        assert reused is not None
        assert reused.query_id == first.query_id
        assert query.status(0).manifest == first.status(0).manifest
    here.bench.catalogs.append(SALES, 1)
    assert there.ran().record.reused is None


def test_a_query_waits_for_the_other_gateway_without_a_worker(world: World) -> None:
    here, there = world.gateways
    here.ran()
    there.ran()
    here.bench.catalogs.append(SALES, 1)
    leader, follower, second = here.submit(), there.submit(), there.submit()
    assert (here.waiting, there.waiting) == ([leader], [])
    there.reuse.poll()
    assert follower.record.state is QueryState.QUEUED
    here.run()
    there.reuse.poll()
    assert {query.record.reused.query_id for query in (follower, second) if query.record.reused} == {
        leader.query_id
    }
    assert world.runs == 2


def test_a_gateway_that_dies_is_waited_for_as_long_as_its_lease(world: World) -> None:
    here, there = world.gateways
    here.submit()
    follower = there.submit(timeout_ms=TIMEOUT_MS)
    world.clock.advance(timedelta(milliseconds=LEASE_MS - 1))
    there.reuse.poll()
    assert there.waiting == []
    world.clock.advance(timedelta(milliseconds=1))
    there.reuse.poll()
    assert there.waiting == [follower]


@pytest.mark.parametrize(("timeout_ms", "waits_ms"), [(TIMEOUT_MS, MAX_WAIT_MS), (10_000, 5_000)])
def test_a_gateway_that_takes_too_long_is_not_waited_for(
    world: World, timeout_ms: int, waits_ms: int
) -> None:
    here, there = world.gateways
    here.submit(timeout_ms=TIMEOUT_MS)
    follower = there.submit(timeout_ms=timeout_ms)
    for _ in range(waits_ms // 1000 - 1):
        world.clock.advance(timedelta(seconds=1))
        here.reuse.poll()
        there.reuse.poll()
    assert there.waiting == []
    world.clock.advance(timedelta(seconds=1))
    here.reuse.poll()
    there.reuse.poll()
    assert there.waiting == [follower]
    # It has waited once: from now on it runs, whoever else does.
    there.run()
    assert (follower.record.state, follower.record.reused) == (QueryState.SUCCEEDED, None)


def test_without_the_server_each_gateway_runs_its_own(world: World) -> None:
    world.shared.is_down = True
    here, there = world.gateways
    here.ran()
    assert there.ran().record.reused is None
    assert here.is_reused()
    assert there.is_reused()
    assert world.runs == 2


def test_a_text_that_may_not_be_reused_keeps_the_other_gateway_waiting_only_until_it_is_known(
    world: World,
) -> None:
    here, there = world.gateways
    sql = "SELECT rand()"
    here.submit(sql)
    follower = there.submit(sql)
    assert there.waiting == []
    here.run()
    there.reuse.poll()
    assert there.waiting == [follower]


def test_rows_that_were_kept_for_something_else_are_not_given_away(world: World) -> None:
    """An entry is only a hint: whoever changes it cannot show anybody the rows of another query."""
    here, there = world.gateways
    secret = here.ran(access=access(SALES))
    mine = access(SALES, where="region = 'A'")
    here.ran(access=mine)
    [(of_all, until_ms), (of_some, _)] = world.shared.entries.values()
    for key, (entry, _) in world.shared.entries.items():
        if entry.query_id == of_some.query_id:
            world.shared.entries[key] = (replace(of_all), until_ms)
    found = there.ran(access=mine)
    assert (secret.query_id, found.record.reused) == (of_all.query_id, None)
    rows = world.rows(found.query_id)
    assert rows is not None
    assert rows["seen"] == seen_by(mine)


def test_a_smaller_hint_gives_no_more_rows_than_wanted(world: World) -> None:
    here, there = world.gateways
    here.bench.engine.outcomes.clear()
    first = here.ran()
    [(key, (entry, until_ms))] = world.shared.entries.items()
    world.shared.entries[key] = (replace(entry, manifest=replace(entry.manifest, row_count=0)), until_ms)
    assert there.ran(row_limit=100).record.reused is not None
    found = there.submit(row_limit=first.record.row_count - 1 if first.record.row_count else 0)
    assert found.record.reused is None
    assert world.rows(found.query_id) is None


def test_other_settings_share_nothing(world: World) -> None:
    here, there = world.gateways
    there.bounds = replace(there.bounds, settings="of another version")
    there.reuse = there.new_reuse()
    here.ran()
    assert there.ran().record.reused is None
