"""Everything that callers may ask for about queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID, uuid4

from service import audited
from service.errors.query_errors import QueryCanceled
from service.idempotency import same_request, sent_before
from service.model.operations.resource_groups import GroupPath
from service.model.operations.usage import PoolUse
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest, QueryState
from service.model.query.replicas import BegunRequest
from service.model.query.statement_text import may_write
from service.ports.stores.query_store import QueryHistory, QueryStore
from service.ports.stores.replicas import SharedProgress, SharedQueries
from service.query.execution.run_query import QueryPorts
from service.query.explaining.planning_service import PlanningService
from service.query.explaining.query_explainer import QueryExplainer
from service.query.lookup.known_queries import KnownQueries
from service.query.lookup.query_overview import QueryOverview
from service.query.lookup.query_results import QueryResults
from service.query.lookup.query_statuses import QueryStatuses
from service.query.registry.awaited_records import AwaitedBounds, AwaitedRecords
from service.query.registry.intake import Intake
from service.query.registry.known_requests import KnownRequests
from service.query.registry.open_queries import open_queries
from service.query.registry.other_replicas import NoOtherReplicas, OtherReplicas
from service.query.registry.presence import Presence, PresenceBounds
from service.query.registry.progress_of import report_of
from service.query.registry.progress_reports import ProgressReports
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry, no_place
from service.query.registry.query_status import QueryStatus
from service.query.workers.admission_rules import AdmissionRules, default_rules, slots_for
from service.query.workers.query_workers import QueryWorkers


@dataclass(frozen=True, slots=True)
class Submission:
    """A query that was accepted. `is_reused`: the same requestId had been sent before."""

    query_id: UUID
    is_reused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryBounds:
    """How many queries run and wait at once, and how long results are kept."""

    workers: int
    max_queued: int
    result_ttl_ms: int
    presence: PresenceBounds = field(default_factory=PresenceBounds)
    awaited: AwaitedBounds = field(default_factory=AwaitedBounds)
    pause: Callable[[float], object] = time.sleep
    """How the service waits for another replica's record."""
    admission: AdmissionRules | None = None
    """None: `workers` queries of each caller at once, in equal turns."""


class QueryService:
    """Accepts queries, answers for them, and reports what they read. Any thread may call any method."""

    def __init__(
        self,
        ports: QueryPorts,
        store: QueryStore,
        history: QueryHistory,
        bounds: QueryBounds,
        replicas: SharedQueries | None = None,
        on_lost: Callable[[Collection[UUID]], None] = lambda _: None,
    ) -> None:
        """`on_lost` gets the queries of a lost replica that this one has closed."""
        self.ports = ports
        self.registry = QueryRegistry(bounds.result_ttl_ms)
        self._rules = bounds.admission or default_rules(slots_for(bounds.workers, bounds.max_queued))
        self.workers = QueryWorkers(self.registry, ports, self._rules)
        self.plannings = PlanningService(ports, bounds.workers, bounds.max_queued)
        self._known_requests = KnownRequests(ports.journal, store, ports.clock)
        self._intake = Intake(ports.clock)
        awaited = AwaitedRecords(ports.clock, bounds.awaited, bounds.pause)
        self._others = self._other_replicas(replicas, bounds.presence, on_lost)
        self.known = KnownQueries(self.registry, self._others, store, ports, awaited, self._known_requests)
        self._statuses = QueryStatuses(
            self.known, self.registry, self.workers, self._others, ports, self._intake
        )
        self.results = QueryResults(self.known, self._statuses, self.registry, ports, awaited, self._intake)
        self.explainer = QueryExplainer(self.known, self.plannings, ports, self._intake)
        self.overview = QueryOverview(
            self.registry, self.workers, history, ports.clock, replicas, lambda: self._others.has_others
        )

    def may_block(self, request: QueryRequest) -> bool:
        """Whether `submit` asks a store or a catalog for this request."""
        return request.request_id is not None or self.ports.reuse.may_block(request)

    def submit(
        self, request: QueryRequest, caller: str, access: Access, roles: Collection[str] = ()
    ) -> Submission:
        """Accepts a query and returns; a known requestId returns the query that it belongs to.

        It returns at once, unless it `may_block`. A query that an earlier result answers has ended then.

        Raises:
            RequestIdReused: the requestId is known, with another body.
            TooManyQueries: the queue of the caller's resource group is full, or its budget is used up.
            ShuttingDown: the gateway accepts no more queries.
        """
        self._intake.check()
        clock = self.ports.clock
        query = QueryHandle(uuid4(), request, caller, access, clock.now(), clock.elapsed_ms())
        before = self.registry.sent_before(query) or sent_before(
            self._known_requests.find, caller, request.request_id, query.fingerprint
        )
        if before is not None:
            return Submission(before.query_id, is_reused=True)
        found = self.ports.reuse.find(query)
        group = self._rules.group_of(caller, roles, request.tags)
        # A query with an answer needs no place in the queue.
        needs_place = found is None or found.result is None
        registered: QueryHandle | BegunRequest
        if needs_place and _begins_once(request):
            registered = self._claimed(query, group)
        else:
            registered = self.registry.add(
                query, partial(self.workers.reserve, group) if needs_place else no_place
            )
        if registered is query:
            _hand_over_to_audit()
            query.finished.add_done_callback(self._intake.stir)
            self.ports.lineage.query_taken(query.record)
            # A query that waits for another one is handed over by that one's thread.
            context = copy_context()
            hand_over = self.workers.hand_over if needs_place else partial(self.workers.take_late, group)
            self.ports.reuse.place(query, found, lambda placed: context.run(hand_over, placed))
        return Submission(registered.query_id, is_reused=registered is not query)

    def _claimed(self, query: QueryHandle, group: GroupPath) -> QueryHandle | BegunRequest:
        """Registers the query with a place, unless one was begun for its requestId, here or elsewhere.

        Raises:
            RequestIdReused: that has another body.
            TooManyQueries: there is no place for it.
        """
        # First its place: others may answer with the id of a claimed query, so it has to begin.
        self.workers.reserve(group, query)
        try:
            begun = self._others.claim(query)
            registered = self.registry.add(query) if begun is None else same_request(begun, query.fingerprint)
        except BaseException:
            self._give_up(query)
            raise
        if registered is not query:
            self._give_up(query)
        return registered

    def _give_up(self, query: QueryHandle) -> None:
        self.workers.release(query)
        self._others.give_up(query)

    def finished(self, query_id: UUID) -> Future[None]:
        """Returns a future that resolves when the query has ended, at any replica.

        All callers share it: never cancel it.
        """
        query = self.registry.find(query_id)
        return self._others.watch(query_id) if query is None else query.finished

    def status(self, query_id: UUID, caller: str) -> QueryStatus:
        """Returns the query's current status. If it is open here, any replica knows it on return.

        Its result is gone once policies do not let its caller read the same any more.

        Raises:
            QueryNotFound: this caller has no such query.
            PoliciesDown: it has a result, and nobody knows whether its caller may still read it.
            ShuttingDown: this replica does not hold it, and drains: another one may have its result.
            MetricsStoreDown: this replica does not hold it, and its record cannot be read now.
        """
        return self._statuses.of(query_id, caller)

    def cancel(self, query_id: UUID, caller: str) -> None:
        """Asks the query to end, at whichever replica. Does nothing if it has ended or is canceled.

        Raises:
            QueryNotFound: this caller has no such query.
        """
        query = self.known.held(query_id, caller)
        if query is None:
            if not self.known.record(query_id, caller).state.is_final:
                self._others.ask_to_cancel(query_id)
            return
        self.workers.cancel(query, QueryCanceled())

    def cancel_any(self, query_id: UUID) -> None:
        """Asks the query to end, whose ever it is, as `cancel` does. For operators.

        Raises:
            QueryNotFound: there is no such query.
        """
        self.cancel(query_id, self.known.caller_of(query_id))

    @property
    def given_up(self) -> int:
        """The number of workers that were given up because what they ran could not be stopped."""
        return self.workers.given_up + self.plannings.given_up

    @property
    def is_taking(self) -> bool:
        """Whether queries are accepted: neither a drain nor the shutdown has begun."""
        return self._intake.is_open

    def open(self) -> Mapping[QueryState, int]:
        """Returns the number of queries in each state that is not final."""
        return open_queries(self.registry.open())

    def pools(self) -> Mapping[str, Callable[[], PoolUse]]:
        """Returns, for each kind of worker, a function that reports how busy it is."""
        return {"query_workers": lambda: self.workers.use, "plannings": lambda: self.plannings.use}

    def begin_drain(self) -> None:
        """Stops accepting queries, since their results would go with this process. All other work goes on."""
        self._intake.begin_drain()

    def is_drained(self) -> bool:
        """Whether all queries have ended and no client is reading a result or about to begin."""
        return self._intake.is_quiet() and not self.registry.open()

    def stop_taking(self) -> None:
        """Accepts nothing more, not even a query that is only planned."""
        self._intake.stop()
        self._others.stop_watching()

    def end(self, within_s: float) -> None:
        """Waits for running queries and cancels those that are late."""
        self.workers.close(within_s)
        self.plannings.close()

    def close(self) -> None:
        """Writes the last records and leaves the other replicas, once no query runs any more."""
        self.ports.journal.close()
        self._others.close()

    def _other_replicas(
        self,
        replicas: SharedQueries | None,
        bounds: PresenceBounds,
        on_lost: Callable[[Collection[UUID]], None],
    ) -> OtherReplicas:
        if replicas is None:
            return NoOtherReplicas()
        presence = Presence(
            replicas,
            self.registry,
            self.ports.journal,
            self.ports.clock,
            self.workers.cancel,
            self._forget,
            bounds,
            self._reports(replicas, bounds.report_valid_s),
            on_lost,
        )
        presence.start()
        return presence

    def _reports(self, replicas: SharedProgress, valid_s: float) -> ProgressReports:
        report = partial(report_of, place=self.workers.place, running=self.ports.running)
        return ProgressReports(replicas, report, self.ports.clock, valid_s)

    def _forget(self, query_id: UUID) -> None:
        self.registry.forget(query_id)
        self.ports.results.drop(query_id)


def _begins_once(request: QueryRequest) -> bool:
    """Whether replicas agree on who begins it. Statements that write have other means: see ADR 68."""
    return request.request_id is not None and not may_write(request.sql)


def _hand_over_to_audit() -> None:
    """Leaves the event to the query's record, because the query may end after its request."""
    request = audited.current()
    if request is not None:
        request.is_handed_over = True
