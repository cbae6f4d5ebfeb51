"""Warms an engine that has just started with what callers asked most."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import TooManyQueries
from service.errors.unavailable import ShuttingDown
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.history import FrequentQuery
from service.model.query.query import QueryRequest
from service.model.query.statement_text import is_command, may_write
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.stores.query_store import QueryHistory
from service.query.explaining.planning_service import Planning, PlanningService
from service.query.registry.query_handle import QueryHandle
from service.query.warm_up.rehearse_query import rehearse_query

log = structlog.get_logger(__name__)

CALLER = "warm-up"
LOOK_EVERY_S = 2.0
BUSY_PAUSE_S = 0.2
RETRY_EVERY_S = 60.0
"""How long to wait after the history could not be read: it may be slow because it has too much to do."""
LISTED_PER_QUERY = 4
"""Texts with parameters cannot run, as their values are not recorded: so many more are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUpBounds:
    """How many queries run, from which time, and how long they may take: one of them, and all together.

    `end_s`: how soon a query must end after it was asked to; with one that goes on, the engine is left alone.
    """

    queries: int
    history: timedelta
    query_s: float
    total_s: float
    end_s: float = 5.0


@dataclass(slots=True)
class _Round:
    """One warm-up under way."""

    engine: object
    ends_at_ms: float
    ran: int = 0
    is_stuck: bool = False
    failed: list[FrequentQuery] = field(default_factory=list)


class WarmUp:
    """Runs the most frequent queries once on each new engine, one at a time, while no caller's query runs.

    The gateway is ready before it begins. A query that fails, or takes too long, is not tried again by this
    process: it may be what ended an engine.
    """

    def __init__(
        self,
        plannings: PlanningService,
        history: QueryHistory,
        engine: Callable[[], object | None],
        is_busy: Callable[[], bool],
        bounds: WarmUpBounds,
        clock: Clock,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """`engine` returns the engine that runs, another object after each start; None if there is none."""
        self._plannings = plannings
        self._history = history
        self._engine = engine
        self._is_busy = is_busy
        self._bounds = bounds
        self._clock = clock
        self._pause = pause
        self._warmed: object | None = None
        # Hashes: the texts would take memory for as long as the process lives.
        self._failed: set[int] = set()
        self.pause_s = LOOK_EVERY_S
        """How long it waits until it looks again."""
        self._worker = PeriodicWorker("warm-up", self.look, lambda: self.pause_s)

    def start(self) -> None:
        """Begins to look for new engines; call it once."""
        self._worker.start()

    def close(self) -> None:
        """Ends after the query that runs; its own bound, or the end of the engine, ends that one."""
        self._worker.close()

    def look(self) -> None:
        """Warms the engine if it is new, and returns when that is done.

        Raises:
            MetricsStoreDown: the frequent queries cannot be read now.
        """
        engine = self._engine()
        if engine is None or engine is self._warmed:
            return
        since = self._clock.now() - self._bounds.history
        self.pause_s = RETRY_EVERY_S
        # What took longer before can only be cut off, and an engine that does not notice it is replaced.
        within_ms = round(self._bounds.query_s * 1000)
        asked = self._history.frequent(since, self._bounds.queries * LISTED_PER_QUERY, within_ms)
        self.pause_s = LOOK_EVERY_S
        self._warmed = engine
        began_ms = self._clock.elapsed_ms()
        current = _Round(engine, began_ms + self._bounds.total_s * 1000)
        # Where plans wait for their turn, callers warm the engine.
        with suppress(ShuttingDown, TooManyQueries):
            self._warm(current, [query for query in asked if hash(query) not in self._failed])
        self._failed.update(map(hash, current.failed))
        took_ms = round(self._clock.elapsed_ms() - began_ms)
        log.info("engine_warmed_up", queries=current.ran, failed=len(current.failed), took_ms=took_ms)

    def _warm(self, current: _Round, asked: list[FrequentQuery]) -> None:
        for query in asked:
            if is_command(query.sql) or may_write(query.sql):
                continue
            self._wait_while_busy(current)
            if current.ran == self._bounds.queries or self._is_over(current):
                return
            if self._run(query, current):
                current.ran += 1
            else:
                current.failed.append(query)

    def _is_over(self, current: _Round) -> bool:
        is_late = self._clock.elapsed_ms() >= current.ends_at_ms
        return is_late or current.is_stuck or self._worker.is_closing or self._engine() is not current.engine

    def _wait_while_busy(self, current: _Round) -> None:
        while self._is_busy() and not self._is_over(current):
            self._pause(BUSY_PAUSE_S)

    def _run(self, query: FrequentQuery, current: _Round) -> bool:
        """Runs the query within its time and that of the round, and returns whether it succeeded.

        Raises:
            TooManyQueries: plans of callers wait.
            ShuttingDown: the gateway ends.
        """
        request = QueryRequest(
            query.sql,
            catalog=query.catalog,
            schema=query.schema,
            timeout_ms=round(self._bounds.query_s * 1000),
            row_limit=1,
        )
        clock = self._clock
        handle = QueryHandle(uuid4(), request, CALLER, FULL_ACCESS, clock.now(), clock.elapsed_ms())
        rehearsal = self._plannings.begin(handle, rehearse_query)
        if not self._has_ended(rehearsal, self._bounds.query_s, current):
            self._plannings.give_up(rehearsal)
            current.is_stuck = not wait([rehearsal.finished], self._bounds.end_s).done
            return False
        try:
            rehearsal.explanation()
        except GatewayError:
            return False
        return True

    def _has_ended(self, rehearsal: Planning[None], within_s: float, current: _Round) -> bool:
        """Whether it ended in time, and before the round did."""
        left_s = within_s
        while left_s > 0 and not self._is_over(current):
            if wait([rehearsal.finished], min(left_s, BUSY_PAUSE_S)).done:
                return True
            left_s -= BUSY_PAUSE_S
        return rehearsal.finished.done()
