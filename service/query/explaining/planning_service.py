"""Queries that are planned and never run: a bounded pool beside the one that runs queries, equally fair."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, TooManyQueries
from service.errors.unavailable import ShuttingDown
from service.model.operations.usage import PoolUse
from service.query.execution.run_query import QueryPorts
from service.query.registry.query_handle import QueryHandle
from service.query.workers.taken_turns import TakenTurns

log = structlog.get_logger(__name__)

ENDED_WITHIN_S = 2.0
T = TypeVar("T")


Work = Callable[[QueryHandle, QueryPorts], T]


class Planning(Generic[T]):
    """A query on its way to its plan; `finished` resolves when planning ends, however it ends.

    `work` is what is done with the query, in the place of a plan.
    """

    def __init__(self, query: QueryHandle, work: Work[T]) -> None:
        self.query = query
        self.work = work
        self.finished: Future[None] = Future()
        self._outcome: T | GatewayError = QueryCanceled()

    def explanation(self) -> T:
        """Returns the plan, or what else was asked, once planning has finished.

        Raises:
            GatewayError: planning failed for this reason.
        """
        if isinstance(self._outcome, GatewayError):
            raise self._outcome
        return self._outcome

    def end(self, outcome: T | GatewayError) -> None:
        """Hands the outcome to all who wait."""
        self._outcome = outcome
        self.finished.set_result(None)


class PlanningService:
    """Plans a bounded number of queries at a time, and lets a bounded number wait.

    Any thread may call any method.
    """

    def __init__(self, ports: QueryPorts, count: int, max_waiting: int) -> None:
        self._ports = ports
        self._turns: TakenTurns[Planning[Any]] = TakenTurns(count, "plan", self._work)
        self._places = threading.Semaphore(count + max_waiting)

    def begin(self, query: QueryHandle, work: Work[T]) -> Planning[T]:
        """Accepts the query and returns at once.

        Raises:
            TooManyQueries: the queue of waiting plans is full.
            ShuttingDown: nothing more is accepted.
        """
        if not self._places.acquire(blocking=False):
            raise TooManyQueries
        planning = Planning(query, work)
        try:
            self._turns.put(query.caller, planning)
        except ShuttingDown:
            self._places.release()
            raise
        return planning

    def give_up(self, planning: Planning[Any]) -> None:
        """Asks an abandoned planning to end. Another one takes its worker's place at once."""
        query = planning.query
        query.cancel(QueryCanceled(), self._ports.clock.elapsed_ms())
        self._ports.engine.cancel(query.query_id)
        self._turns.give_up(planning)

    @property
    def given_up(self) -> int:
        """Returns how many workers still run an abandoned planning."""
        return self._turns.given_up

    @property
    def use(self) -> PoolUse:
        """Returns how many workers are busy, and how many queries wait for one."""
        return self._turns.use

    def close(self) -> None:
        """Accepts nothing more, and returns when the last planning has ended, or after a moment."""
        self._turns.close()
        if not self._turns.is_idle_within(ENDED_WITHIN_S):
            log.error("plannings_hang_in_stop")

    def _work(self, planning: Planning[Any]) -> None:
        try:
            planning.end(planning.work(planning.query, self._ports))
        except GatewayError as failure:
            log.debug("query_not_planned", code=failure.code, exc_info=True)
            planning.end(failure)
        except Exception:  # the outermost edge of a worker: a bug here must not leave a caller hanging
            log.exception("planning_crashed")
            planning.end(GatewayError())
        finally:
            self._places.release()
