"""The workers that plan and run queries: a bounded, fair pool, and a sweeper for timeouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from functools import partial
from uuid import UUID

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryEnded, TooManyQueries
from service.errors.unavailable import ShuttingDown
from service.model.operations.health import PartHealth, PartState
from service.model.operations.resource_groups import GroupPath, GroupUse
from service.model.operations.usage import PoolUse
from service.model.query.planned_work import PlannedWork
from service.model.query.progress import QueuePlace
from service.periodic_worker import PeriodicWorker
from service.ports.engine.query_engine import CpuTimes
from service.query.execution.run_query import QueryPorts, run_query
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from service.query.registry.recorded import record
from service.query.registry.traced_query import reported, waited
from service.query.workers.admission_rules import AdmissionRules
from service.query.workers.admitted_turns import AdmittedTurns
from service.query.workers.sweep import end_late_queries, forget_old_queries
from service.tracing import step

log = structlog.get_logger(__name__)

SWEEP_INTERVAL_S = 0.1
CPU_INTERVAL_S = 1.0
ENDED_WITHIN_S = 2.0


class QueryWorkers:
    """Runs the registered queries within their resource groups, and ends late or canceled ones."""

    def __init__(self, book: QueryRegistry, ports: QueryPorts, rules: AdmissionRules) -> None:
        self._book = book
        self._ports = ports
        self._rules = rules
        self._turns = AdmittedTurns(
            rules.groups, rules.bounds, ports.clock, ports.admission_metrics, self._work
        )
        self._sweeper = PeriodicWorker("sweep", self._sweep, SWEEP_INTERVAL_S)
        self._sweeper.start()
        # In threads of their own: timeouts must not wait for the place of results, or for the engine.
        self._forgetter = PeriodicWorker("forget-queries", self._forget_old, SWEEP_INTERVAL_S)
        self._forgetter.start()
        self._cpu = PeriodicWorker("cpu-times", self._charge_cpu, CPU_INTERVAL_S)
        if ports.cpu_times is not None:
            self._cpu.start()

    def reserve(self, group: GroupPath, query: QueryHandle) -> None:
        """Takes a place in the queue of the group, for `hand_over`.

        Raises:
            TooManyQueries: there is no room for it.
        """
        self._turns.reserve(query, group)
        query.finished.add_done_callback(partial(self._ended, query.query_id))

    def hand_over(self, query: QueryHandle) -> None:
        """Lets the query, which has a place, be planned and run in its turn.

        Raises:
            ShuttingDown: the workers take no more queries.
        """
        try:
            self._turns.put(query)
        except ShuttingDown as closed:  # close() came in between
            self._fail(query, closed)
            raise

    def release(self, query: QueryHandle) -> None:
        """Gives a place back that was not handed over."""
        self._turns.remove(query.query_id)

    def take_late(self, group: GroupPath, query: QueryHandle) -> None:
        """Hands over a query without a place, which fails if there is no room: it has lost its answer.

        Raises:
            ShuttingDown: the workers take no more queries.
        """
        try:
            self.reserve(group, query)
        except TooManyQueries as refused:
            self._fail(query, refused)
            return
        self.hand_over(query)

    @property
    def given_up(self) -> int:
        """How many workers hang with queries that have ended for their callers."""
        return self._turns.given_up

    @property
    def use(self) -> PoolUse:
        """How many queries run, of how many, and how many wait."""
        return self._turns.use

    def group_use(self) -> Sequence[GroupUse]:
        """Returns how many queries of each configured group wait and run."""
        return self._turns.group_use()

    def place(self, query: QueryHandle) -> QueuePlace | None:
        """Returns where the query waits; None if it does not."""
        return self._turns.place(query.query_id)

    def health(self) -> PartHealth:
        """Returns at once; down if no worker is left to run a query."""
        given_up = self._turns.given_up
        state = PartState.DOWN if self._turns.is_exhausted else PartState.UP
        detail = f"Given up, and not back yet: {given_up} workers." if given_up else ""
        return PartHealth("queryWorkers", state, detail, is_required=True, given_up_count=given_up)

    def cancel(self, query: QueryHandle, reason: QueryEnded) -> None:
        """Ends the query if it waits, and asks it to end if it runs."""
        if query.cancel(reason, self._ports.clock.elapsed_ms()):
            record(query, self._ports.journal)
        elif query.is_running():
            self._ports.engine.cancel(query.query_id)

    def close(self, timeout_s: float) -> None:
        """Waits for open queries, cancels late ones, and stops the engine under the rest."""
        deadline_ms = self._ports.clock.elapsed_ms() + timeout_s * 1000
        for query in self._book.open():
            with suppress(FutureTimeoutError):
                query.finished.result(max(0.0, (deadline_ms - self._ports.clock.elapsed_ms()) / 1000))
        # First stop the workers: every query that was accepted until now is in the registry.
        self._turns.close()
        for query in self._book.open():
            self.cancel(query, QueryCanceled("The gateway is shutting down."))
        self._ports.engine.close()
        # Without its engine a query ends within moments; one that does not hangs out of reach.
        if not self._turns.is_idle_within(ENDED_WITHIN_S):
            log.error("queries_hang_in_stop")
        self._sweeper.close(ENDED_WITHIN_S)
        self._forgetter.close(ENDED_WITHIN_S)
        self._cpu.close()

    def _ended(self, query_id: UUID, _: object) -> None:
        self._turns.remove(query_id)

    def _work(self, query: QueryHandle) -> None:
        structlog.contextvars.bind_contextvars(query_id=str(query.query_id))
        with step("sluice.query", since=query.record.submitted_at) as span:
            waited(span, query, self._ports.clock.now())
            self._run(query)
            if query.record.state.is_final:
                reported(span, query.record)
            else:
                span.name("sluice.query.plan_ahead")

    def _admit(self, query: QueryHandle, work: PlannedWork) -> str | None:
        started = self._turns.admit(query, work)
        return None if started is None else self._rules.pool_of(started.group, started.query_class)

    def _run(self, query: QueryHandle) -> None:
        try:
            run_query(query, self._ports, self._admit)
        except Exception:  # the outermost edge of a worker: a bug here must not leave a query hanging
            log.exception("query_crashed")
            self._fail(query, GatewayError())
        ended = query.record
        if not ended.state.is_final:
            log.debug("query_set_aside")
            return
        log.info(
            "query_ended",
            state=ended.state,
            code=ended.error and ended.error.code,
            rows=ended.row_count,
            queued_ms=ended.queued_ms,
            planning_ms=ended.planning_ms,
            running_ms=ended.running_ms,
        )

    def _fail(self, query: QueryHandle, failure: GatewayError) -> None:
        if query.fail(failure, self._ports.clock.elapsed_ms()):
            record(query, self._ports.journal)

    def _charge_cpu(self) -> None:
        if self._ports.cpu_times is not None:
            self._guarded(partial(self._charge_cpu_of, self._ports.cpu_times))

    def _charge_cpu_of(self, cpu_times: CpuTimes) -> None:
        self._turns.charge_cpu(cpu_times.taken())

    def _sweep(self) -> None:
        self._guarded(self._end_late_queries)
        self._turns.poll()

    def _forget_old(self) -> None:
        self._guarded(lambda: forget_old_queries(self._book, self._ports))

    def _end_late_queries(self) -> None:
        for query in end_late_queries(self._book, self._ports):
            self._turns.give_up(query)

    def _guarded(self, task: Callable[[], None]) -> None:
        try:
            task()
        except (GatewayError, OSError) as failure:
            # The next sweep tries it again; the rest of this sweep still runs.
            log.warning("sweep_failed", error=type(failure).__name__)
