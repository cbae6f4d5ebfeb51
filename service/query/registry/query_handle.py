"""A query while the gateway holds it: its state, and its waiting callers."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from service import audited
from service.errors.gateway_error import GatewayError, PartDown
from service.errors.query_errors import QueryCanceled, QueryEnded
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import QueryRecord, QueryRequest, QueryState
from service.model.query.results import Manifest
from service.model.query.reuse import ReusableResult, Reused
from service.model.query.statement_text import query_text
from service.model.writes.writes import WriteRecord
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.ended_records import Spent, failed, succeeded, succeeded_reused
from service.query.registry.progress_gauge import ProgressGauge
from service.query.registry.query_status import QueryStatus
from service.query.registry.run_outcome import RunOutcome
from service.tracing import current

_RESOLVED: Future[None] = Future()
_RESOLVED.set_result(None)
_NO_PROGRESS = ProgressGauge(FULL_ACCESS)
_NOT_PRUNED = PrunedQuery("")


class QueryHandle:
    """QUEUED → RUNNING → one of the final states, never back. A query is still QUEUED while it is planned.

    `text` is the query, without an EXPLAIN before it.

    `finished` resolves with the final state; `recorded` resolves once the record is on its way to the store.
    Times are milliseconds of the monotonic clock.
    """

    def __init__(
        self,
        query_id: UUID,
        request: QueryRequest,
        caller: str,
        access: Access,
        submitted_at: datetime,
        now_ms: int,
    ) -> None:
        self.query_id = query_id
        self.request = request
        self.text = query_text(request.sql)
        self.caller = caller
        self.access = access
        self.finished: Future[None] = Future()
        self.recorded: Future[None] = Future()
        self.progress = ProgressGauge(access)
        self.deadline_ms = now_ms + request.timeout_ms
        self._submitted_ms = now_ms
        self._taken_ms: int | None = None
        self._ended_ms: int | None = None
        self._lock = threading.Lock()
        self._cancellation: QueryEnded | None = None
        self._canceled_ms: int | None = None
        self._manifest: Manifest | None = None
        self._failure: GatewayError | None = None
        self._pruned = PrunedQuery(request.sql)
        request_audited = audited.current()
        self._record = QueryRecord(
            query_id=query_id,
            caller=caller,
            sql=request.sql,
            state=QueryState.QUEUED,
            submitted_at=submitted_at,
            catalog=request.catalog,
            schema=request.schema,
            request_id=request.request_id,
            fingerprint=request.fingerprint(),
            tags=request.tags,
            trace=current().context,
            origin=None if request_audited is None else request_audited.origin,
            access=access,
        )

    @property
    def record(self) -> QueryRecord:
        """Returns the current record."""
        return self._record

    @property
    def fingerprint(self) -> str:
        """A text that is the same for the same request."""
        return self._record.fingerprint

    @property
    def pruned(self) -> PrunedQuery:
        """Returns the text to run, and the outcome of its filters."""
        return self._pruned

    @property
    def ended_ms(self) -> int | None:
        """When it ended; None before that."""
        return self._ended_ms

    def is_canceled(self) -> bool:
        """Whether it was asked to end."""
        return self._cancellation is not None

    def is_running(self) -> bool:
        """Whether a worker plans or runs it."""
        state = self._record.state
        return state is QueryState.RUNNING or (state is QueryState.QUEUED and self._taken_ms is not None)

    def has_result(self) -> bool:
        """Whether rows can still be read, as far as is known."""
        return self._manifest is not None

    def lose_result(self) -> None:
        """Notes that the rows can no longer be read."""
        with self._lock:
            self._manifest = None

    def take(self, now_ms: int) -> bool:
        """Notes that a worker begins to plan it; returns False if it was canceled while it waited."""
        with self._lock:
            is_waiting = self._record.state is QueryState.QUEUED and self._taken_ms is None
            if not is_waiting or self._cancellation is not None:
                return False
            self._taken_ms = now_ms
            return True

    def start(self, now_ms: int) -> bool:
        """Marks it as running; returns False if it was canceled before.

        The time of its worker, with the planning of this attempt, no longer counts as queued.
        """
        with self._lock:
            if self._record.state.is_final or self._cancellation is not None:
                return False
            if self._record.state is QueryState.QUEUED:
                self._taken_ms = now_ms if self._taken_ms is None else self._taken_ms
                queued_ms = self._taken_ms - self._submitted_ms
                self._record = replace(self._record, state=QueryState.RUNNING, queued_ms=queued_ms)
            return True

    def set_aside(self) -> bool:
        """Lets it wait again, since it may not run yet; returns False if it was canceled or has ended."""
        with self._lock:
            if self._record.state is not QueryState.QUEUED or self._cancellation is not None:
                return False
            self._taken_ms = None
            return True

    def prune(self, pruned: PrunedQuery) -> None:
        """Sets its pruned form, for its run and its record."""
        with self._lock:
            self._pruned = pruned
            if not self._record.state.is_final:
                self._record = replace(
                    self._record,
                    filters=pruned.filters,
                    rewritten_sql=pruned.rewritten_sql,
                    parse_ms=pruned.parse_ms,
                    detect_ms=pruned.detect_ms,
                    filters_ms=pruned.filters_ms,
                    rewrites=pruned.rewrites,
                )

    def note(self, outcome: RunOutcome) -> None:
        """Stores the outcome of its run, for its record."""
        self.prune(outcome.pruned)
        with self._lock:
            if not self._record.state.is_final:
                self._record = replace(self._record, verification=outcome.verification)

    def note_write(self, record: WriteRecord) -> None:
        """Keeps what it writes, and how that ended, for its record."""
        with self._lock:
            self._record = replace(self._record, write=record)

    def cancel(self, reason: QueryEnded, now_ms: int) -> bool:
        """Asks it to end for this reason; returns whether that ended it at once, because it only waited."""
        with self._lock:
            if self._record.state.is_final:
                return False
            if self._cancellation is None:
                self._cancellation, self._canceled_ms = reason, now_ms
            is_waiting = self._record.state is QueryState.QUEUED and self._taken_ms is None
        # If several cancel it at once, only one of them has ended it.
        return is_waiting and self.fail(reason, now_ms)

    def give_up(self, grace_ms: int, now_ms: int) -> bool:
        """Ends it if it was canceled that long ago, though a worker still runs it; returns whether it did."""
        with self._lock:
            reason, since_ms = self._cancellation, self._canceled_ms
        if reason is None or since_ms is None or now_ms - since_ms < grace_ms:
            return False
        return self.fail(reason, now_ms)

    def succeed(self, result: EngineResult, manifest: Manifest, now_ms: int) -> bool:
        """Ends it with a result. Returns False if it had ended before."""
        record = succeeded(self._record, result, manifest, self._pruned, self._spent(now_ms))
        return self._end(record, manifest, None, now_ms)

    def succeed_reused(self, reused: Reused, kept: ReusableResult, now_ms: int) -> bool:
        """Ends it with the result of an earlier query. Returns False if it had ended before."""
        record = succeeded_reused(self._record, reused, kept, self._spent(now_ms))
        return self._end(record, kept.manifest, None, now_ms)

    def fail(self, failure: GatewayError, now_ms: int) -> bool:
        """Ends it without a result, for the reason of its cancellation if it has one.

        Returns False if it had ended before. The failure is kept without its traceback and causes: frames
        hold rows, and causes hold objects of the engine.
        """
        spent, seen = self._spent(now_ms), failure
        if isinstance(failure, QueryCanceled | PartDown) and self._cancellation is not None:
            seen = self._cancellation
        record = failed(self._record, failure, seen, self._pruned, spent)
        return self._end(record, None, seen, now_ms)

    def let_go(self) -> None:
        """Frees what an ended and recorded query no longer needs; thousands of them are held."""
        with self._lock:
            self._pruned = PrunedQuery(self.request.sql)
            self.finished = self.recorded = _RESOLVED
            self.progress = ProgressGauge(self.access)

    def forget_run(self) -> None:
        """Frees what only a run needs: an answer that was reused is held for as long as its result.

        Equal texts are one. Call it after `let_go`, when no worker can have the query any more.
        """
        sql = sys.intern(self.request.sql)
        self.request = replace(self.request, sql=sql, parameters=(), session=None)
        self.text = query_text(sql)
        self.progress = _NO_PROGRESS
        with self._lock:
            self._pruned = _NOT_PRUNED
            self._record = replace(self._record, sql=sql)

    def status(self, now_ms: int) -> QueryStatus:
        """Returns its current status; while it waits, all of its time counts as queued."""
        with self._lock:
            until_ms = now_ms if self._ended_ms is None else self._ended_ms
            elapsed_ms = until_ms - self._submitted_ms
            record = self._record
            if record.state is QueryState.QUEUED:
                record = replace(record, queued_ms=elapsed_ms)
            return QueryStatus(record, elapsed_ms, self._manifest, self._failure, self.request.format)

    def _spent(self, now_ms: int) -> Spent:
        if self._taken_ms is None:
            return Spent(queued_ms=now_ms - self._submitted_ms, worked_ms=0)
        return Spent(queued_ms=self._taken_ms - self._submitted_ms, worked_ms=now_ms - self._taken_ms)

    def _end(
        self, record: QueryRecord, manifest: Manifest | None, failure: GatewayError | None, now_ms: int
    ) -> bool:
        with self._lock:
            if self._record.state.is_final:
                return False
            self._record, self._manifest, self._failure = record, manifest, failure
            self._ended_ms = now_ms
        if failure is not None:
            _cut(failure)
        self.finished.set_result(None)
        return True


def _cut(failure: GatewayError) -> None:
    failure.__traceback__ = failure.__cause__ = failure.__context__ = None
    if isinstance(failure, QueryEnded):
        failure.run = None
