"""The current status of a query, for its caller."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from service.errors.unavailable import ShuttingDown
from service.model.query.query import QueryState
from service.query.execution.run_query import QueryPorts
from service.query.lookup.known_queries import KnownQueries
from service.query.registry.intake import Intake
from service.query.registry.other_replicas import OtherReplicas
from service.query.registry.progress_of import progress_of
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from service.query.registry.query_status import QueryStatus
from service.query.registry.readable_results import is_still_readable
from service.query.workers.query_workers import QueryWorkers


class QueryStatuses:
    """Reports how far a query is, and whether its result can be read. Any thread may call any method."""

    def __init__(
        self,
        known: KnownQueries,
        registry: QueryRegistry,
        workers: QueryWorkers,
        others: OtherReplicas,
        ports: QueryPorts,
        intake: Intake,
    ) -> None:
        self._known = known
        self._registry = registry
        self._workers = workers
        self._others = others
        self._ports = ports
        self._intake = intake

    def of(self, query_id: UUID, caller: str) -> QueryStatus:
        """Returns the query's current status. If it is open here, any replica knows it on return.

        Its result is gone once policies do not let its caller read the same any more.

        Raises:
            QueryNotFound: this caller has no such query.
            PoliciesDown: it has a result, and nobody knows whether its caller may still read it.
            ShuttingDown: this replica does not hold it, and drains: another one may have its result.
            MetricsStoreDown: this replica does not hold it, and its record cannot be read now.
        """
        query = self._known.held(query_id, caller)
        if query is not None:
            return self._of_held(query)
        if self._intake.is_draining:
            raise ShuttingDown
        return self._known.reported(query_id, caller)

    def _of_held(self, query: QueryHandle) -> QueryStatus:
        if query.has_result() and not is_still_readable(query):
            self._registry.lose_result(query)
        status = query.status(self._ports.clock.elapsed_ms())
        if status.record.state is QueryState.QUEUED:
            status = replace(status, queue=self._workers.place(query))
        if not status.record.state.is_final:
            self._others.announce(query)
        return replace(status, progress=progress_of(query, self._ports.running))
