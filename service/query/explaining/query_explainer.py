"""Explains queries that ran, and plans and describes queries that do not run."""

from __future__ import annotations

from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from service.errors.query_errors import QueryNotFound
from service.errors.unavailable import MetricsStoreDown
from service.model.policies.decisions import Access
from service.model.query.description import Description
from service.model.query.explanation import Explanation
from service.model.query.query import QueryRequest
from service.query.execution.run_query import QueryPorts
from service.query.explaining.describe_query import describe_query
from service.query.explaining.explain import explain
from service.query.explaining.plan_query import only_planned, plan_query
from service.query.explaining.planning_service import Planning, PlanningService
from service.query.lookup.known_queries import KnownQueries
from service.query.registry.intake import Intake
from service.query.registry.progress_of import progress_of
from service.query.registry.query_handle import QueryHandle

# A record follows its answer within milliseconds; an explanation waits at most this long for it.
RECORD_WAIT_S = 5.0


class QueryExplainer:
    """Reports how queries are planned. Any thread may call any method."""

    def __init__(
        self, known: KnownQueries, plannings: PlanningService, ports: QueryPorts, intake: Intake
    ) -> None:
        self._known = known
        self._plannings = plannings
        self._ports = ports
        self._intake = intake

    def explain(self, query_id: UUID, caller: str) -> Explanation:
        """Explains the query: its record, how much it read of how much, and how it was planned.

        Raises:
            QueryNotFound: this caller has no such query.
            MetricsStoreDown: its record cannot be read now.
        """
        query = self._known.held(query_id, caller)
        if query is None:
            found = self._known.unheld(query_id, caller)
            return replace(explain(found.record, self._ports.calls), progress=found.progress)
        if query.record.state.is_final:
            with suppress(FutureTimeoutError):
                query.recorded.result(RECORD_WAIT_S)
            with suppress(QueryNotFound, MetricsStoreDown):
                return explain(self._known.record(query_id, caller), self._ports.calls)
        explanation = explain(query.status(self._ports.clock.elapsed_ms()).record, self._ports.calls)
        return replace(explanation, progress=progress_of(query, self._ports.running))

    def plan(self, request: QueryRequest, caller: str, access: Access) -> Planning[Explanation]:
        """Begins to plan the request, and returns at once. A plan is not a query: nothing is recorded.

        Raises:
            TooManyQueries: the queue of waiting plans is full.
            ShuttingDown: the gateway accepts no more requests.
        """
        return self._plannings.begin(self._unrecorded(request, caller, access), plan_query)

    def describe(self, request: QueryRequest, caller: str, access: Access) -> Planning[Description]:
        """Begins to describe the request's query, and returns at once. Nothing runs, and nothing is recorded.

        Raises:
            TooManyQueries: the queue of waiting plans is full.
            ShuttingDown: the gateway accepts no more requests.
        """
        return self._plannings.begin(self._unrecorded(request, caller, access), describe_query)

    def stop_planning(self, planning: Planning[Any]) -> None:
        """Asks the planning to end, because nobody waits for it any more."""
        self._plannings.give_up(planning)

    def _unrecorded(self, request: QueryRequest, caller: str, access: Access) -> QueryHandle:
        self._intake.check()
        clock = self._ports.clock
        return QueryHandle(uuid4(), only_planned(request), caller, access, clock.now(), clock.elapsed_ms())
