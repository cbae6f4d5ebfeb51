"""An engine that returns scripted outcomes, and can hold its runs until a test releases them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

import pyarrow as pa

from service.errors.query_errors import QueryCanceled
from service.errors.unavailable import EngineLost, EngineNotReady
from service.model.operations.health import PartHealth, PartState
from service.model.query.planned_work import PlannedWork
from service.model.query.results import Column
from service.model.query.scan_metrics import ScanRecord
from service.ports.engine.query_engine import EngineResult, Statement

PLAN = "== Physical Plan ==\nScan"
PATIENCE_S = 20.0


def engine_result(
    rows: int = 3, scans: tuple[ScanRecord, ...] = (), plan_text: Callable[[], str] = lambda: PLAN
) -> EngineResult:
    return EngineResult(
        rows=pa.table({"n": pa.array(range(rows), pa.int32())}),
        columns=(Column("n", "INT", is_nullable=False),),
        is_truncated=False,
        planning_ms=4,
        running_ms=9,
        scans=scans,
        plan_text=plan_text,
    )


class FakeEngine:
    """Each run takes the next of `outcomes`, an exception or a result; then, it always returns `answer`."""

    def __init__(self, *outcomes: EngineResult | Exception) -> None:
        self.outcomes = deque(outcomes)
        self.answer = engine_result()
        self.work = PlannedWork(0)
        self.works: dict[str, PlannedWork] = {}
        self.pools: list[str] = []
        self.admissions_asked = 0
        self.runs: list[Statement] = []
        self.plans: list[Statement] = []
        self.cancels: list[UUID] = []
        self.missed_cancels = 0
        self.is_closed = False
        self.down_s = 0.0
        self._is_paused = False
        self._canceled: set[UUID] = set()
        self._changed = threading.Condition()

    def run(self, statement: Statement) -> EngineResult:
        """Runs the statement if it is admitted, as one that reads `work`."""
        if statement.admit is not None:
            self.admissions_asked += 1
            self.pools.append(statement.admit(self.works.get(statement.sql, self.work)))
        return self._outcome(statement, self.runs)

    def _outcome(self, statement: Statement, asked: list[Statement]) -> EngineResult:
        with self._changed:
            if self.is_closed:
                raise EngineNotReady
            asked.append(statement)
            outcome = self.outcomes.popleft() if self.outcomes else self.answer
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._may_go_on(statement), PATIENCE_S)
            if statement.query_id in self._canceled:
                raise QueryCanceled
            if self.is_closed:
                raise EngineLost
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def explain(self, statement: Statement) -> EngineResult:
        """Does as `run`, but returns no rows; `plans` lists the statements."""
        result = self._outcome(statement, self.plans)
        return replace(result, rows=result.rows.slice(0, 0))

    def cancel(self, query_id: UUID) -> None:
        with self._changed:
            self.cancels.append(query_id)
            if len(self.cancels) > self.missed_cancels:
                self._canceled.add(query_id)
            self._changed.notify_all()

    def health(self) -> PartHealth:
        is_down = self.is_closed or self.down_s > 0
        state = PartState.DOWN if is_down else PartState.UP
        return PartHealth("engine", state, is_required=True, down_s=self.down_s)

    def close(self) -> None:
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keeps the runs that start inside the block from ending before it ends, unless they are canceled."""
        self._pause(True)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        self._pause(False)

    def wait_for_runs(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.runs) >= count, PATIENCE_S)

    def wait_for_plans(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.plans) >= count, PATIENCE_S)

    def wait_for_cancels(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.cancels) >= count, PATIENCE_S)

    def _pause(self, is_paused: bool) -> None:
        with self._changed:
            self._is_paused = is_paused
            self._changed.notify_all()

    def _may_go_on(self, statement: Statement) -> bool:
        return not self._is_paused or self.is_closed or statement.query_id in self._canceled
