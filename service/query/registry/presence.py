"""Reports this replica and its open queries, and closes the queries of lost replicas."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from uuid import UUID

import structlog

from service.circuit import Circuit
from service.errors.query_errors import QueryCanceled, QueryEnded, ReplicaLost
from service.errors.unavailable import MetricsStoreDown
from service.model.query.replicas import BegunRequest, OpenQuery
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.stores.query_store import Journal
from service.ports.stores.replicas import SharedQueries
from service.query.registry.progress_reports import ProgressReports
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from service.query.registry.reported_queries import ReportedQueries
from service.query.registry.watched_queries import WatchedQueries

log = structlog.get_logger(__name__)

LONG_MS = 1_000
"""Queries that are open for longer are reported, even if no caller knows their id yet."""
REST_MS = 5_000
"""How long a store that did not answer is left alone."""
JUMP_MS = 5_000
"""A beat may have waited this long for a connection; a longer difference means that the store's clock was
set.
"""
LOOK_S = 0.5
"""How often a replica looks for what cannot wait for a beat: queries of its own that were canceled at another
one, and ends of queries elsewhere that callers wait for here.
"""
ENDED_WITHIN_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenceBounds:
    """How often a replica reports that it is alive, and after which silence its queries count as lost."""

    interval_s: float = 3.0
    lost_after_s: float = 20.0

    @property
    def report_valid_s(self) -> float:
        """How long a report of progress counts: two later beats may be missing."""
        return 3 * self.interval_s


class Presence:
    """Beats in a thread of its own; any thread may call any method.

    A replica declares others lost only after it has beaten for `lost_after_s` without a gap. If the store was
    away, all replicas were silent, and none is lost because of that. A jump of the store's clock is a gap
    too.
    """

    def __init__(
        self,
        replicas: SharedQueries,
        book: QueryRegistry,
        journal: Journal,
        clock: Clock,
        end: Callable[[QueryHandle, QueryEnded], None],
        forget: Callable[[UUID], None],
        bounds: PresenceBounds,
        reports: ProgressReports,
        on_lost: Callable[[Collection[UUID]], None] = lambda _: None,
    ) -> None:
        """`end` ends a query for a reason; `forget` drops a query whose record in the store is right.

        `reports` follow each beat. `on_lost` gets the queries of lost replicas that this one has closed.
        """
        self._replicas = replicas
        self._book = book
        self._journal = journal
        self._clock = clock
        self._end = end
        self._forget = forget
        self._bounds = bounds
        self._reports = reports
        self._on_lost = on_lost
        self._reported = ReportedQueries()
        self._watched = WatchedQueries(replicas)
        self._circuit = Circuit(clock, REST_MS)
        self._beaten_ms: int | None = None
        self._store_ms = 0
        self._judges_from_ms = 0
        self._is_away = False
        self._next_beat_ms = 0.0
        self._has_others = True
        self._worker = PeriodicWorker("presence", self._poll, self._pause_s)

    @property
    def has_others(self) -> bool:
        """Whether there may be another replica, as far as is known."""
        return self._has_others

    def start(self) -> None:
        """Starts to beat, at once and then every `interval_s`."""
        self._worker.start()

    def announce(self, query: QueryHandle) -> None:
        """Writes an open query down before its caller learns its id, so that any replica knows the id.

        Does nothing if the store does not answer: no query waits for it.
        """
        if query.query_id in self._reported or query.record.state.is_final:
            return
        is_looking = self._may_be_canceled()
        self._circuit.ask(lambda: self._beat({query.query_id: query}, {}, ()), MetricsStoreDown)
        if not is_looking and self._may_be_canceled():
            self._worker.wake()

    def claim(self, query: QueryHandle) -> BegunRequest | None:
        """Writes a query with a requestId down, before it begins, unless one was begun under this id.

        Returns that one. None: the query may begin. So it may if there are no others, or the store does not
        answer.
        """
        if not self._has_others:
            return None
        is_looking = self._may_be_canceled()
        begun = self._circuit.ask(lambda: self._claim(query), MetricsStoreDown)
        if not is_looking and self._may_be_canceled():
            self._worker.wake()
        return begun

    def give_up(self, query: QueryHandle) -> None:
        """Takes a claim back: the query does not begin."""
        if query.query_id in self._reported:
            # If the store does not answer now, the next beat closes it. One that was canceled has a record.
            if not query.recorded.done():
                query.recorded.set_result(None)
            self._circuit.ask(lambda: self._beat({}, {}, (query.query_id,)), MetricsStoreDown)

    def find(self, query_id: UUID) -> OpenQuery | None:
        """Returns a query that is open at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self._replicas.find((query_id,)).get(query_id)

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:
        """Returns the query that this caller sent under this id, if it is open at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self._replicas.find_request(caller, request_id)

    def ask_to_cancel(self, query_id: UUID) -> None:
        """Asks the replica that runs the query to cancel it; it looks every `LOOK_S`.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        self._replicas.ask_to_cancel(query_id)

    def watch(self, query_id: UUID) -> Future[None]:
        """Returns a future that resolves when the query is no longer open at any replica, or watching stops.

        All callers share it: never cancel it.
        """
        watched = self._watched.watch(query_id)
        self._worker.wake()
        return watched

    def stop_watching(self) -> None:
        """Releases all callers that wait here for queries of other replicas: they can ask another replica."""
        self._watched.release()

    def beat(self) -> None:
        """Beats once: reports open queries, ends those that others have decided on, and closes lost ones."""
        now_ms = self._clock.elapsed_ms()
        try:
            reported_before = {query.query_id: query for query in self._reported.all()}
            store_ms = self._beat(self._to_report(now_ms), reported_before, self._recorded())
            self._note_beat(now_ms, store_ms)
            if now_ms >= self._judges_from_ms:
                self._judge()
            if self._has_others:
                self._reports.send(self._reported.all())
        except MetricsStoreDown:
            self._beaten_ms = None
            if not self._is_away:
                log.warning("replica_not_seen", cure="the metrics store does not answer")
            self._is_away = True

    def look(self) -> None:
        """Ends queries that were canceled at another replica, without waiting for the next beat."""
        if not self._may_be_canceled():
            return
        try:
            canceled = self._replicas.canceled()
        except MetricsStoreDown:
            # The next beat finds out, and says so once.
            return
        for query in self._reported.among(canceled):
            self._end(query, QueryCanceled())

    def close(self) -> None:
        """Reports that this replica ends. Call it when the records of all queries are written."""
        self._worker.close(ENDED_WITHIN_S)
        try:
            self._replicas.leave()
        except MetricsStoreDown:
            log.warning("replica_left_without_a_word")

    def _beat(
        self,
        opened: Mapping[UUID, QueryHandle],
        reported_before: Mapping[UUID, QueryHandle],
        closed: Collection[UUID],
    ) -> int:
        """Reports to the store, applies its decisions, and returns the time of its clock."""
        now_ms = self._clock.elapsed_ms()
        statuses = {query_id: query.status(now_ms) for query_id, query in opened.items()}
        reporting = {
            query_id: OpenQuery(status.record, status.elapsed_ms)
            for query_id, status in statuses.items()
            if not status.record.state.is_final
        }
        decided = self._replicas.beat(list(reporting.values()), reported_before.keys(), closed)
        self._has_others = decided.has_others
        for query_id, query_ in reporting.items():
            self._reported.put(opened[query_id], query_.record.state)
        self._reported.drop((*closed, *decided.lost))
        known = dict(reported_before) | dict(opened)
        for query_id in decided.lost & known.keys():
            self._lose(known[query_id])
        for query_id in decided.canceled & known.keys():
            self._end(known[query_id], QueryCanceled())
        return decided.at_ms

    def _claim(self, query: QueryHandle) -> BegunRequest | None:
        status = query.status(self._clock.elapsed_ms())
        begun = self._replicas.claim(OpenQuery(status.record, status.elapsed_ms))
        if begun is None:
            self._reported.put(query, status.record.state)
        return begun

    def _lose(self, query: QueryHandle) -> None:
        """Keeps to what others have seen: the query is lost here too, however it ended since."""
        log.warning("query_counts_as_lost", query_id=str(query.query_id), state=query.record.state)
        self._end(query, ReplicaLost())
        query.finished.add_done_callback(lambda _: self._forget(query.query_id))

    def _to_report(self, now_ms: int) -> dict[UUID, QueryHandle]:
        return {
            handle.query_id: handle
            for handle in self._book.open()
            if (
                self._reported.has_changed(handle)
                if handle.query_id in self._reported
                else handle.status(now_ms).elapsed_ms >= LONG_MS
            )
        }

    def _recorded(self) -> list[UUID]:
        """Returns the queries whose record is written or given up: the store has forgotten them, or shall."""
        return [
            handle.query_id
            for handle in self._reported.all()
            if handle.recorded.done() and self._journal.find(handle.query_id) is None
        ]

    def _note_beat(self, now_ms: int, store_ms: int) -> None:
        if self._is_away:
            log.info("replica_seen_again")
        self._is_away = False
        gap_ms = None if self._beaten_ms is None else now_ms - self._beaten_ms
        lost_after_ms = round(self._bounds.lost_after_s * 1000)
        if gap_ms is None or max(gap_ms, self._jumped_ms(gap_ms, store_ms)) > lost_after_ms // 2:
            self._judges_from_ms = now_ms + lost_after_ms
        self._beaten_ms = now_ms
        self._store_ms = store_ms

    def _jumped_ms(self, gap_ms: int, store_ms: int) -> int:
        """Returns by how much more or less time has passed for the store since the last beat."""
        jumped_ms = abs(store_ms - self._store_ms - gap_ms)
        if jumped_ms > JUMP_MS:
            log.warning("store_clock_jumped", by_ms=store_ms - self._store_ms - gap_ms)
        return jumped_ms

    def _judge(self) -> None:
        lost = self._replicas.take_lost(self._bounds.lost_after_s)
        if lost:
            log.warning("queries_lost_with_their_replica", query_ids=sorted(map(str, lost)))
            self._on_lost(lost)

    def _poll(self) -> None:
        try:
            if self._clock.elapsed_ms() >= self._next_beat_ms:
                self._next_beat_ms = self._clock.elapsed_ms() + self._bounds.interval_s * 1000
                self.beat()
            else:
                self.look()
        finally:
            self._watched.look()

    def _pause_s(self) -> float:
        left_s = max(0.0, (self._next_beat_ms - self._clock.elapsed_ms()) / 1000)
        return min(left_s, LOOK_S) if self._watched or self._may_be_canceled() else left_s

    def _may_be_canceled(self) -> bool:
        """Whether another replica may know a query that is open here, and be asked to cancel it."""
        return self._has_others and not self._is_away and bool(self._reported)
