"""Random lives of queries: limits are never exceeded, and every query comes to its end."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from service.errors.query_errors import TooManyQueries
from service.model.operations.resource_groups import (
    USER,
    GroupPath,
    QueryClass,
    ResourceGroup,
    ResourceGroups,
    WhenExhausted,
)
from service.model.query.priority import Priority
from service.query.admission.scheduler import Scheduler
from service.query.admission.slot_bounds import SlotBounds
from tests.unit.query.admission.groups import LONG, SHORT

SLOTS = SlotBounds(long_slots=3, short_slots=2, short_max_bytes=10, max_queued=8, planners=3, planned_ahead=2)
PATHS: list[GroupPath] = [("adhoc", USER), ("adhoc", "shared"), ("etl",)]
GROUPS = ResourceGroups(
    root_groups=(
        ResourceGroup(
            name="adhoc",
            hard_concurrency_limit=3,
            max_queued=6,
            scheduling_weight=3,
            sub_groups=(
                ResourceGroup(name=USER, hard_concurrency_limit=2, long_concurrency_limit=1, max_queued=3),
                ResourceGroup(name="shared", hard_concurrency_limit=1, max_queued=2),
            ),
        ),
        ResourceGroup(
            name="etl",
            hard_concurrency_limit=4,
            max_queued=4,
            hard_cpu_limit_ms=1000,
            hard_scan_limit_bytes=1 << 42,
            when_exhausted=WhenExhausted.REFUSE,
        ),
    ),
    selectors=(),
)


class Life(RuleBasedStateMachine):
    """Any order of submissions, turns, ends, removals, hanging workers and used-up budgets."""

    @initialize()
    def begin(self) -> None:
        self.scheduler: Scheduler[int] = Scheduler(GROUPS, SLOTS)
        self.now_ms = 0
        self.count = 0
        self.shortest_retry_s = 1
        self.waiting: set[int] = set()
        self.with_worker: set[int] = set()
        self.running: set[int] = set()

    @rule(caller=st.sampled_from("abc"), path=st.sampled_from(PATHS), priority=st.sampled_from(Priority))
    def submit(self, caller: str, path: GroupPath, priority: Priority) -> None:
        self.count += 1
        try:
            self.scheduler.reserve(self.count, path, caller, self.now_ms, priority)
        except TooManyQueries as refused:
            self.shortest_retry_s = min(self.shortest_retry_s, refused.retry_after_s)
            return
        self.scheduler.offer(self.count)
        self.waiting.add(self.count)

    @rule()
    def take_turn(self) -> None:
        has_turn = self.scheduler.has_turn(self.now_ms)
        before = self.scheduler.running_count
        key = self.scheduler.next(self.now_ms)
        assert (key is not None) is has_turn
        if key is not None:
            self.waiting.remove(key)
            self.with_worker.add(key)
            if self.scheduler.running_count > before:
                self.running.add(key)

    @precondition(lambda self: self.with_worker - self.running)
    @rule(data=st.data(), work=st.sampled_from([SHORT, LONG]))
    def plan(self, data: st.DataObject, work: object) -> None:
        key = data.draw(st.sampled_from(sorted(self.with_worker - self.running)))
        assert work in (SHORT, LONG)
        if self.scheduler.planned(key, SHORT if work is SHORT else LONG, self.now_ms) is not None:
            self.running.add(key)
        else:
            self.with_worker.remove(key)
            self.scheduler.release(key, self.now_ms)
            self.waiting.add(key)

    @precondition(lambda self: self.with_worker)
    @rule(data=st.data(), hangs=st.booleans())
    def end(self, data: st.DataObject, hangs: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.with_worker)))
        if hangs:
            self.scheduler.give_up(key, self.now_ms)
        self.scheduler.release(key, self.now_ms)
        self.with_worker.remove(key)
        self.running.discard(key)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.waiting)))
        self.scheduler.remove(key)
        self.waiting.remove(key)
        assert self.scheduler.place(key, self.now_ms) is None

    @rule(ms=st.integers(0, 20_000))
    def wait(self, ms: int) -> None:
        self.now_ms += ms

    @precondition(lambda self: self.count)
    @rule(data=st.data(), cpu_ms=st.integers(0, 1500))
    def charge(self, data: st.DataObject, cpu_ms: int) -> None:
        key = data.draw(st.integers(1, self.count))
        self.scheduler.charge_cpu(key, cpu_ms, self.now_ms)

    @invariant()
    def limits_hold(self) -> None:
        for node in self.scheduler.groups():
            is_overdue = node.running[QueryClass.LONG] > node.spec.concurrency_limit(QueryClass.LONG)
            assert node.running_count <= node.spec.hard_concurrency_limit
            # A short query that turns out to be long keeps its slot.
            assert not is_overdue or self.now_ms > SLOTS.short_max_ms
            assert node.open <= 2 * node.spec.max_queued + node.spec.hard_concurrency_limit
            assert node.parent is None or (
                node.open <= node.spec.max_queued + node.spec.hard_concurrency_limit
            )
            assert min(node.open, *node.running.values(), *node.waiting.values()) >= 0
        assert self.scheduler.planning_count <= SLOTS.planners

    @invariant()
    def counts_are_right(self) -> None:
        assert self.scheduler.running_count == len(self.running)
        assert self.scheduler.waiting_count == len(self.waiting)
        assert self.scheduler.planning_count == len(self.with_worker - self.running)
        for key in self.waiting:
            place = self.scheduler.place(key, self.now_ms)
            assert place is not None
            assert 1 <= place.position <= len(self.waiting)

    def teardown(self) -> None:
        """Whatever has happened, those that wait all run in the end."""
        for key in sorted(self.with_worker):
            self.scheduler.release(key, self.now_ms)
        left = set(self.waiting)
        for _ in range(4 * len(left)):
            # Budgets come back.
            self.now_ms += 3_600_000
            taken: list[int] = []
            while (turn := self.scheduler.next(self.now_ms)) is not None:
                if self.scheduler.planned(turn, LONG, self.now_ms) is not None:
                    left.remove(turn)
                    taken.append(turn)
                else:
                    self.scheduler.release(turn, self.now_ms)
            for key in taken:
                self.scheduler.release(key, self.now_ms)
        assert not left
        assert self.shortest_retry_s == 1
        assert self.scheduler.open_count == 0


TestLife = Life.TestCase
