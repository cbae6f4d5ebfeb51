"""Everything that callers may ask for about queries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from service import audited
from service.errors.query_errors import ChunkNotFound, QueryCanceled, QueryNotFound, ResultExpired
from service.errors.unavailable import MetricsStoreDown, ShuttingDown
from service.idempotency import sent_before
from service.model.operations.health import PartHealth
from service.model.operations.resource_groups import GroupUse, QueuePlace
from service.model.operations.usage import PoolUse
from service.model.policies.decisions import Access
from service.model.query.description import Description
from service.model.query.explanation import Explanation
from service.model.query.history import PruningSummary, QueryListing, QuerySummary, TablePruning
from service.model.query.query import QueryRecord, QueryRequest, QueryState
from service.model.query.results import Chunk, Manifest, ResultFormat
from service.model.tables.tables import TableName
from service.ports.stores.query_store import QueryHistory, QueryStore
from service.ports.stores.replicas import SharedQueries
from service.ports.stores.result_files import ArrowFile
from service.query.execution.run_query import QueryPorts
from service.query.explaining.describe_query import describe_query
from service.query.explaining.explain import explain
from service.query.explaining.plan_query import only_planned, plan_query
from service.query.explaining.planning_service import Planning, PlanningService
from service.query.registry.awaited_records import AwaitedBounds, AwaitedRecords
from service.query.registry.known_requests import KnownRequests
from service.query.registry.listing import list_queries
from service.query.registry.open_queries import open_queries
from service.query.registry.presence import Presence, PresenceBounds
from service.query.registry.progress_of import progress_of
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry, no_place
from service.query.registry.query_status import QueryStatus
from service.query.registry.readable_results import is_still_readable
from service.query.workers.admission_rules import AdmissionRules, default_rules, slots_for
from service.query.workers.query_workers import QueryWorkers

if TYPE_CHECKING:
    import pyarrow as pa

# A record follows its answer within milliseconds; an explanation waits at most this long for it.
RECORD_WAIT_S = 5.0
SUMMARY_OF = timedelta(days=1)
RECENT = timedelta(days=7)
MOST_PLACES = 100
STIRRED_MS = 2_000
"""How long after a query's end, or after a chunk that is not the last, its reader may still come back."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A query that was accepted. `is_reused`: the same requestId had been sent before."""

    query_id: UUID
    is_reused: bool


@dataclass(frozen=True, slots=True)
class ResultChunk:
    """One chunk of a result, with its manifest, and the format that its query asked for."""

    manifest: Manifest
    chunk: Chunk
    rows: pa.Table
    format: ResultFormat = ResultFormat.JSON


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A whole result: its manifest, its bytes as they are kept, and the format that its query asked for.

    `stream` is None if this gateway keeps no such bytes.
    """

    manifest: Manifest
    stream: ArrowFile | None
    format: ResultFormat = ResultFormat.JSON


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
        self._store = store
        self._history = history
        self._rules = bounds.admission or default_rules(slots_for(bounds.workers, bounds.max_queued))
        self._workers = QueryWorkers(self.registry, ports, self._rules)
        self._plannings = PlanningService(ports, bounds.workers, bounds.max_queued)
        self._known_requests = KnownRequests(ports.journal, store, ports.clock)
        self._closing = threading.Event()
        self._draining = threading.Event()
        self._stirred_ms = ports.clock.elapsed_ms() - STIRRED_MS
        self._awaited = AwaitedRecords(ports.clock, bounds.awaited, bounds.pause)
        self._presence = None if replicas is None else self._present(replicas, bounds.presence, on_lost)

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
        self._check_taking()
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
        reserve = partial(self._workers.reserve, group)
        registered = self.registry.add(query, reserve if needs_place else no_place)
        if registered is query:
            _hand_over_to_audit()
            query.finished.add_done_callback(self._stir)
            self.ports.lineage.query_taken(query.record)
            # A query that waits for another one is handed over by that one's thread.
            context = copy_context()
            hand_over = self._workers.hand_over if needs_place else partial(self._workers.take_late, group)
            self.ports.reuse.place(query, found, lambda placed: context.run(hand_over, placed))
        return Submission(registered.query_id, is_reused=registered is not query)

    def finished(self, query_id: UUID) -> Future[None]:
        """Returns a future that resolves when the query has ended, at any replica.

        All callers share it: never cancel it.
        """
        query = self.registry.find(query_id)
        if query is not None:
            return query.finished
        if self._presence is not None:
            return self._presence.watch(query_id)
        ended: Future[None] = Future()
        ended.set_result(None)
        return ended

    def status(self, query_id: UUID, caller: str) -> QueryStatus:
        """Returns the query's current status. If it is open here, any replica knows it on return.

        Its result is gone once policies do not let its caller read the same any more.

        Raises:
            QueryNotFound: this caller has no such query.
            PoliciesDown: it has a result, and nobody knows whether its caller may still read it.
            ShuttingDown: this replica does not hold it, and drains: another one may have its result.
            MetricsStoreDown: this replica does not hold it, and its record cannot be read now.
        """
        query = self._registered(query_id, caller)
        if query is not None:
            if query.has_result() and not is_still_readable(query):
                self.registry.lose_result(query)
            status = query.status(self.ports.clock.elapsed_ms())
            if status.record.state is QueryState.QUEUED:
                status = replace(status, queue=self._workers.place(query))
            if self._presence is not None and not status.record.state.is_final:
                self._presence.announce(query)
            return replace(status, progress=progress_of(query, self.ports.running))
        if self._draining.is_set():
            raise ShuttingDown
        return self._reported(query_id, caller)

    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk:
        """Returns one chunk of the result; the same on every call.

        Raises:
            QueryNotFound: this caller has no such query.
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk, or the query has no result.
        """
        manifest, own_format = self._result(query_id, caller)
        if not 0 <= index < len(manifest.chunks):
            raise ChunkNotFound(f"The result has the chunks 0 to {len(manifest.chunks) - 1}.")
        rows = self._rows(query_id, index)
        if index + 1 < len(manifest.chunks):
            self._stir()
        return ResultChunk(manifest, manifest.chunks[index], rows, own_format)

    def result_file(self, query_id: UUID, caller: str) -> ResultFile:
        """Returns the whole result, as far as it is known without its rows.

        Raises:
            QueryNotFound, ResultExpired, ChunkNotFound: as `chunk`.
        """
        manifest, own_format = self._result(query_id, caller)
        stream = None if self.ports.files is None else self.ports.files.open(query_id)
        self._stir()
        return ResultFile(manifest, stream, own_format)

    def cancel(self, query_id: UUID, caller: str) -> None:
        """Asks the query to end, at whichever replica. Does nothing if it has ended or is canceled.

        Raises:
            QueryNotFound: this caller has no such query.
        """
        query = self._registered(query_id, caller)
        if query is None:
            is_final = self._record(query_id, caller).state.is_final
            if self._presence is not None and not is_final:
                self._presence.ask_to_cancel(query_id)
            return
        self._workers.cancel(query, QueryCanceled())

    def sent_as(self, request_id: UUID, caller: str) -> UUID:
        """Returns the id of the query that this caller sent under a requestId, at whichever replica.

        Raises:
            QueryNotFound: this caller has sent no query under this id, or it has not arrived yet.
            MetricsStoreDown: this replica does not hold it, and the others' queries cannot be read now.
        """
        held = self.registry.find_request(caller, request_id)
        if held is not None:
            return held.query_id
        # In this order: a query is open at its replica until the store has its record.
        opened = None if self._presence is None else self._presence.find_request(caller, request_id)
        record = self._known_requests.find(caller, request_id) if opened is None else opened.record
        if record is None:
            raise QueryNotFound("No query of yours was sent under this requestId, or it has not arrived yet.")
        return record.query_id

    def cancel_any(self, query_id: UUID) -> None:
        """Asks the query to end, whose ever it is, as `cancel` does. For operators.

        Raises:
            QueryNotFound: there is no such query.
        """
        query = self.registry.find(query_id)
        if query is not None:
            self.cancel(query_id, query.caller)
            return
        found = self._recorded(query_id) or self._open_elsewhere(query_id)
        if found is None:
            raise QueryNotFound
        self.cancel(query_id, found.record.caller)

    def explain(self, query_id: UUID, caller: str) -> Explanation:
        """Explains the query: its record, how much it read of how much, and how it was planned.

        Raises:
            QueryNotFound: this caller has no such query.
            MetricsStoreDown: its record cannot be read now.
        """
        query = self._registered(query_id, caller)
        if query is None:
            return explain(self._record(query_id, caller), self.ports.calls)
        if query.record.state.is_final:
            with suppress(FutureTimeoutError):
                query.recorded.result(RECORD_WAIT_S)
            with suppress(QueryNotFound, MetricsStoreDown):
                return explain(self._record(query_id, caller), self.ports.calls)
        explanation = explain(query.status(self.ports.clock.elapsed_ms()).record, self.ports.calls)
        return replace(explanation, progress=progress_of(query, self.ports.running))

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

    def _unrecorded(self, request: QueryRequest, caller: str, access: Access) -> QueryHandle:
        self._check_taking()
        clock = self.ports.clock
        return QueryHandle(uuid4(), only_planned(request), caller, access, clock.now(), clock.elapsed_ms())

    def stop_planning(self, planning: Planning[Any]) -> None:
        """Asks the planning to end, because nobody waits for it any more."""
        self._plannings.give_up(planning)

    def list_queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Lists a caller's queries, the newest first; one that has just ended may be missing for a moment.

        Raises:
            MetricsStoreDown: past queries cannot be read now.
        """
        return list_queries(listing, self.registry.open(), self._history, self.ports.clock.elapsed_ms())

    def places(self, query_ids: Iterable[UUID]) -> Mapping[UUID, QueuePlace]:
        """Returns where those of these queries wait that this gateway holds; the first `MOST_PLACES` only.

        To find a place takes as long as the queue is.
        """
        held = (self.registry.find(query_id) for query_id in islice(query_ids, MOST_PLACES))
        found = ((query.query_id, self._workers.place(query)) for query in held if query is not None)
        return {query_id: place for query_id, place in found if place is not None}

    def pruning_summary(self, since: datetime | None, table: str | None) -> PruningSummary:
        """Sums up what all callers read and pruned of each table; without `since`, in the last day.

        Raises:
            MetricsStoreDown: past queries cannot be read now.
        """
        beginning = since or self.ports.clock.now() - SUMMARY_OF
        return PruningSummary(beginning, self._history.pruning(beginning, table))

    def recent_pruning(self, table: TableName) -> TablePruning | None:
        """Sums up what all callers read and pruned of a table in the last week; None: nothing is recorded.

        Raises:
            MetricsStoreDown: past queries cannot be read now.
        """
        found = self._history.pruning(self.ports.clock.now() - RECENT, str(table))
        return next((pruning for pruning in found if pruning.table == str(table)), None)

    @property
    def given_up(self) -> int:
        """The number of workers that were given up because what they ran could not be stopped."""
        return self._workers.given_up + self._plannings.given_up

    def open(self) -> Mapping[QueryState, int]:
        """Returns the number of queries in each state that is not final."""
        return open_queries(self.registry.open())

    def health(self) -> PartHealth:
        """Reports whether a worker can take a query."""
        return self._workers.health()

    def group_use(self) -> Sequence[GroupUse]:
        """Returns how many queries of each configured resource group wait and run."""
        return self._workers.group_use()

    def pools(self) -> Mapping[str, Callable[[], PoolUse]]:
        """Returns, for each kind of worker, a function that reports how busy it is."""
        return {"query_workers": lambda: self._workers.use, "plannings": lambda: self._plannings.use}

    def begin_drain(self) -> None:
        """Stops accepting queries, since their results would go with this process. All other work goes on."""
        self._draining.set()

    def is_drained(self) -> bool:
        """Whether all queries have ended and no client is reading a result or about to begin."""
        is_quiet = self.ports.clock.elapsed_ms() - self._stirred_ms >= STIRRED_MS
        return is_quiet and not self.registry.open()

    def stop_taking(self) -> None:
        """Accepts nothing more, not even a query that is only planned."""
        self._closing.set()
        if self._presence is not None:
            self._presence.stop_watching()

    def end(self, within_s: float) -> None:
        """Waits for running queries and cancels those that are late."""
        self._workers.close(within_s)
        self._plannings.close()

    def close(self) -> None:
        """Writes the last records and leaves the other replicas, once no query runs any more."""
        self.ports.journal.close()
        if self._presence is not None:
            self._presence.close()

    def _result(self, query_id: UUID, caller: str) -> tuple[Manifest, ResultFormat]:
        # Its row may still be open at another replica, though its caller knows that it has ended.
        status = self._awaited.found(
            lambda: self.status(query_id, caller),
            lambda found: found.record.state.is_final or self._is_held(query_id),
        )
        if not status.record.state.is_final or status.failure is not None or status.record.error is not None:
            raise ChunkNotFound("The query has no result.")
        if status.manifest is None:
            raise ResultExpired
        return status.manifest, status.format

    def _rows(self, query_id: UUID, index: int) -> pa.Table:
        try:
            return self.ports.results.chunk(query_id, index)
        except ResultExpired:
            query = self.registry.find(query_id)
            if query is not None:
                self.registry.lose_result(query)
            raise

    def _registered(self, query_id: UUID, caller: str) -> QueryHandle | None:
        query = self.registry.find(query_id)
        if query is not None and query.caller != caller:
            raise QueryNotFound
        return query

    def _record(self, query_id: UUID, caller: str) -> QueryRecord:
        return self._reported(query_id, caller).record

    def _reported(self, query_id: UUID, caller: str) -> QueryStatus:
        """Returns the recorded status, or that of the replica where the query is open.

        Its caller may have its id before the record is written, so it is waited for.
        """
        found = self._awaited.found(
            lambda: self._known(query_id), lambda found: found is not None or not self._has_others()
        )
        if found is None or found.record.caller != caller:
            raise QueryNotFound
        return found

    def _has_others(self) -> bool:
        return self._presence is not None and self._presence.has_others

    def _is_held(self, query_id: UUID) -> bool:
        return self.registry.find(query_id) is not None or not self._has_others()

    def _known(self, query_id: UUID) -> QueryStatus | None:
        found = self._recorded(query_id) or self._open_elsewhere(query_id)
        # It may have ended between the two.
        return found or self._recorded(query_id)

    def _recorded(self, query_id: UUID) -> QueryStatus | None:
        found = self.ports.journal.find(query_id) or self._store.find(query_id)
        if found is None:
            return None
        elapsed_ms = found.queued_ms + found.planning_ms + found.running_ms
        # Policies may have changed since: only with the query itself can they be asked again.
        is_shown = found.state is QueryState.SUCCEEDED and not self.ports.has_policies
        return QueryStatus(found, elapsed_ms, self.ports.results.manifest(query_id) if is_shown else None)

    def _open_elsewhere(self, query_id: UUID) -> QueryStatus | None:
        found = None if self._presence is None else self._presence.find(query_id)
        return None if found is None else QueryStatus(found.record, found.elapsed_ms)

    def _present(
        self, replicas: SharedQueries, bounds: PresenceBounds, on_lost: Callable[[Collection[UUID]], None]
    ) -> Presence:
        presence = Presence(
            replicas,
            self.registry,
            self.ports.journal,
            self.ports.clock,
            self._workers.cancel,
            self._forget,
            bounds,
            on_lost,
        )
        presence.start()
        return presence

    def _forget(self, query_id: UUID) -> None:
        self.registry.forget(query_id)
        self.ports.results.drop(query_id)

    def _check_taking(self) -> None:
        if self._closing.is_set() or self._draining.is_set():
            raise ShuttingDown

    def _stir(self, _: object = None) -> None:
        self._stirred_ms = self.ports.clock.elapsed_ms()


def _hand_over_to_audit() -> None:
    """Leaves the event to the query's record, because the query may end after its request."""
    request = audited.current()
    if request is not None:
        request.is_handed_over = True
