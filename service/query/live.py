"""A query while the gateway holds it: its state, and whoever waits for its end."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from service.errors import GatewayError, PartDown, QueryCanceled, QueryEnded
from service.model.query import QueryError, QueryRecord, QueryRequest, QueryState, QueryStatus
from service.model.results import Manifest
from service.ports import EngineResult


class LiveQuery:
    """QUEUED → RUNNING → one of the final states, never back.

    `finished` is resolved with the final state; `recorded` once the record is on its way to the store.
    Times are milliseconds of the clock that never goes back.
    """

    def __init__(
        self, query_id: UUID, request: QueryRequest, caller: str, submitted_at: datetime, now_ms: int
    ) -> None:
        self.query_id = query_id
        self.request = request
        self.caller = caller
        self.finished: Future[None] = Future()
        self.recorded: Future[None] = Future()
        self.deadline_ms = now_ms + request.timeout_ms
        self._submitted_ms = now_ms
        self._started_ms: int | None = None
        self._ended_ms: int | None = None
        self._lock = threading.Lock()
        self._cancellation: QueryEnded | None = None
        self._manifest: Manifest | None = None
        self._failure: GatewayError | None = None
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
        )

    @property
    def record(self) -> QueryRecord:
        """The record as it stands now."""
        return self._record

    @property
    def ended_ms(self) -> int | None:
        """When it ended; None before."""
        return self._ended_ms

    def is_canceled(self) -> bool:
        """Whether somebody wants it to end."""
        return self._cancellation is not None

    def is_running(self) -> bool:
        """Whether a worker has it."""
        return self._record.state is QueryState.RUNNING

    def start(self, now_ms: int) -> bool:
        """Whether a worker may run it: not when it was canceled while it waited."""
        with self._lock:
            if self._record.state is not QueryState.QUEUED or self._cancellation is not None:
                return False
            self._started_ms = now_ms
            queued_ms = now_ms - self._submitted_ms
            self._record = replace(self._record, state=QueryState.RUNNING, queued_ms=queued_ms)
            return True

    def cancel(self, reason: QueryEnded, now_ms: int) -> bool:
        """Asks it to end for this reason; whether that ended it at once, as it only waited."""
        with self._lock:
            if self._record.state.is_final:
                return False
            self._cancellation = self._cancellation or reason
            is_waiting = self._record.state is QueryState.QUEUED
        # Of several who cancel at once, one has ended it.
        return is_waiting and self.fail(reason, now_ms)

    def succeed(self, result: EngineResult, manifest: Manifest, now_ms: int) -> None:
        """Ends it with a result."""
        record = replace(
            self._record,
            state=QueryState.SUCCEEDED,
            planning_ms=result.planning_ms,
            running_ms=result.running_ms,
            row_count=manifest.row_count,
            byte_count=manifest.byte_count,
            scans=result.scans,
        )
        self._end(record, manifest, None, now_ms)

    def fail(self, failure: GatewayError, now_ms: int) -> bool:
        """Ends it without a result, for the reason of its cancellation if it has one.

        Whether this ended it: False when it had ended before.
        """
        if isinstance(failure, QueryCanceled | PartDown) and self._cancellation is not None:
            failure = self._cancellation
        record = replace(
            self._record,
            state=QueryState.CANCELED if isinstance(failure, QueryCanceled) else QueryState.FAILED,
            error=QueryError(failure.code, failure.detail),
            running_ms=0 if self._started_ms is None else now_ms - self._started_ms,
        )
        return self._end(record, None, failure, now_ms)

    def status(self, now_ms: int) -> QueryStatus:
        """As it stands now."""
        with self._lock:
            until_ms = now_ms if self._ended_ms is None else self._ended_ms
            return QueryStatus(self._record, until_ms - self._submitted_ms, self._manifest, self._failure)

    def _end(
        self, record: QueryRecord, manifest: Manifest | None, failure: GatewayError | None, now_ms: int
    ) -> bool:
        with self._lock:
            if self._record.state.is_final:
                return False
            self._record, self._manifest, self._failure = record, manifest, failure
            self._ended_ms = now_ms
        self.finished.set_result(None)
        return True
