"""All streams: accepting them, running each in one replica, and looking them up."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from logging import INFO, WARNING
from typing import Any
from uuid import UUID, uuid4

import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.ingest_errors import TooManyIngests
from service.errors.source_errors import GrantRevoked, StreamFailed, StreamInvalid, StreamNotFound
from service.errors.table_errors import TableChanged
from service.errors.unavailable import ShuttingDown
from service.idempotency import same_request, sent_before
from service.ingest.ingest_service import IngestService
from service.ingest.streaming.creator_policies import CreatorRights, NoCreatorPolicies
from service.ingest.streaming.no_stream_metrics import NoStreamMetrics
from service.ingest.streaming.stream_creator import creator_of, roles_of
from service.ingest.streaming.stream_lags import StreamLags
from service.ingest.streaming.stream_run import StreamRun
from service.ingest.write_rights import check_write_rights
from service.model.authentication.principals import Principal
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.stream_standing import StreamStanding
from service.model.ingest.streams import CreatorRoles, StreamDefinition, StreamRecord, StreamState
from service.model.policies.decisions import FULL_ACCESS, Access
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.engine.stream_queries import RunningStream, StreamQueries
from service.ports.stores.stream_store import StreamStore
from service.ports.tables.stream_sources import StreamSources
from service.ports.telemetry.stream_metrics import StreamMetrics

log = structlog.get_logger(__name__)

# Errors that pass by themselves.
_PASSING = (PartDown, TooManyIngests, TableChanged)

_SET_BACK = timedelta(seconds=5)
"""The tolerance for two clocks, which are not read at exactly the same moment."""

ReadBody = Callable[[Mapping[str, Any]], StreamDefinition]
"""A function that reads a stream from its original body; raises IngestInvalid if this version cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPace:
    """The number of streams that one replica runs, and its polling times in milliseconds."""

    running_at_most: int = 20
    look_around_ms: int = 2_000
    first_pause_ms: int = 1_000
    longest_pause_ms: int = 60_000
    standing_ms: int = 10_000
    """How often all streams are counted, and those that run here are asked for their progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPorts:
    """The ports that streams are run with."""

    store: StreamStore
    queries: StreamQueries
    sources: StreamSources
    clock: Clock
    metrics: StreamMetrics = field(default_factory=NoStreamMetrics)
    policies: CreatorRights = field(default_factory=NoCreatorPolicies)
    """Decides whether a stream's creator may still write."""


@dataclass(slots=True)
class _Pause:
    failures: int
    until_ms: float


class StreamService:
    """The streams of this gateway; any thread may call any method.

    A thread of its own starts and stops the streams that run here.
    """

    def __init__(
        self, ports: StreamPorts, ingests: IngestService, read_body: ReadBody, pace: StreamPace
    ) -> None:
        self.read_body = read_body
        self._ports = ports
        self._ingests = ingests
        self._pace = pace
        self._runs: dict[UUID, StreamRun] = {}
        self._pauses: dict[UUID, _Pause] = {}
        self._lags = StreamLags()
        self._by_state: Mapping[StreamState, int] = {}
        self._next_standing_ms = 0
        self._clocks = (ports.clock.now(), ports.clock.elapsed_ms())
        self._worker = PeriodicWorker(
            "streams", self._supervise, pace.look_around_ms / 1000, at_end=self._stop_all
        )

    def start(self) -> None:
        """Begins to run streams, including those of earlier processes."""
        self._worker.start()

    def create(
        self,
        name: str,
        body: Mapping[str, Any],
        creator: Principal,
        access: Access,
        request_id: UUID | None = None,
    ) -> StreamRecord:
        """Accepts a stream; it begins within moments, here or in another replica.

        A `requestId` that this caller has sent before returns the earlier stream, whatever its state is now.

        Raises:
            RequestIdReused: the requestId is known, with another body.
            StreamInvalid, SourceNotAllowed: its source cannot be read here.
            GatewayError: its tables cannot be written as requested.
        """
        fingerprint, caller = _fingerprint(name, body), creator.name
        before = sent_before(self._find_request, caller, request_id, fingerprint)
        if before is not None:
            return before
        definition = self.read_body(body)
        if any(write.is_inferred for write in definition.writes):
            raise StreamInvalid("The columns of a stream cannot be inferred: name them in writeSchema.")
        self._ports.sources.check(definition.source)
        self._ports.queries.check(definition.source)
        if self._is_full():
            # The last place may have gone to the same request, sent to another replica in the meantime.
            before = sent_before(self._find_request, caller, request_id, fingerprint)
            if before is None:
                raise self._too_many()
            return before
        # This check comes last, because it may create tables.
        self._ingests.check(
            IngestRequest(definition.writes, "", on_error=definition.on_error, route=definition.route),
            access,
        )
        record = StreamRecord(
            uuid4(),
            caller,
            name,
            body,
            self._ports.clock.now(),
            request_id=request_id,
            fingerprint=fingerprint,
            creator_roles=roles_of(creator),
        )
        added = self._ports.store.add(record)
        self._worker.wake()
        return same_request(added, fingerprint)

    def list(self, caller: str | None) -> Sequence[StreamRecord]:
        """Returns the caller's streams, the newest first. None: those of all callers.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self._ports.store.streams(caller)

    def find(self, stream_id: UUID, caller: str) -> StreamRecord:
        """Returns the stream as it is now.

        Raises:
            StreamNotFound: this caller has no such stream.
            MetricsStoreDown: the store does not answer.
        """
        found = next((record for record in self.list(caller) if record.stream_id == stream_id), None)
        if found is None:
            raise StreamNotFound
        return found

    def stop(self, stream_id: UUID, caller: str) -> StreamRecord:
        """Stops a stream; its progress is kept. Stopping it twice is fine.

        Raises:
            StreamNotFound: this caller has no such stream.
            MetricsStoreDown: the store does not answer.
        """
        self.find(stream_id, caller)
        self._move(stream_id, StreamState.STOPPED)
        return self.find(stream_id, caller)

    def stop_any(self, stream_id: UUID) -> None:
        """Stops a stream, whoever created it.

        Raises:
            StreamNotFound: there is no such stream.
            MetricsStoreDown: the store does not answer.
        """
        if all(record.stream_id != stream_id for record in self.list(None)):
            raise StreamNotFound
        self._move(stream_id, StreamState.STOPPED)

    def resume(self, stream_id: UUID, creator: Principal, access: Access) -> StreamRecord:
        """Resumes a stream that does not run; it continues where it was, with the roles of now.

        Raises:
            StreamNotFound: this caller has no such stream.
            TableAccessDenied: it may not write to the stream's tables now.
            StreamInvalid: the maximum number of streams runs; a stream that already runs may still be
                resumed.
            MetricsStoreDown: the store does not answer.
        """
        found = self.find(stream_id, creator.name)
        if access is not FULL_ACCESS:
            definition = self.read_body(found.body)
            check_write_rights(definition.writes, definition.on_error, access)
        if found.state is not StreamState.RUNNING and self._is_full():
            raise self._too_many()
        self._move(stream_id, StreamState.RUNNING, roles_of(creator))
        return self.find(stream_id, creator.name)

    def standing(self) -> StreamStanding:
        """Returns the streams' progress as of the last poll, at once and without asking any source."""
        lag_ms = self._lags.longest_ms(self._ports.clock.elapsed_ms())
        return StreamStanding(self._by_state, len(self._runs), lag_ms / 1000, self._lags.messages)

    def stop_taking(self) -> None:
        """Begins to end the streams that run here, without waiting; they continue after the next start."""
        self._worker.close()

    def close(self, timeout_s: float) -> None:
        """Ends the streams that run here; they continue after the next start, or in another replica."""
        self.stop_taking()
        self._worker.close(timeout_s)

    def _move(self, stream_id: UUID, state: StreamState, resumed_by: CreatorRoles | None = None) -> None:
        self._ports.store.move(stream_id, state, resumed_by=resumed_by)
        self._pauses.pop(stream_id, None)
        self._worker.wake()

    def _is_full(self) -> bool:
        return len(self._ports.store.streams(state=StreamState.RUNNING)) >= self._pace.running_at_most

    def _too_many(self) -> StreamInvalid:
        return StreamInvalid(
            f"{self._pace.running_at_most} streams run already, which is what stream_max_running allows."
        )

    def _find_request(self, caller: str, request_id: UUID) -> StreamRecord | None:
        return next((record for record in self.list(caller) if record.request_id == request_id), None)

    def _supervise(self) -> None:
        try:
            self._poll()
        except GatewayError as down:
            level = INFO if self._is_of_a_stop(down) else WARNING
            log.log(level, "streams_not_looked_after", reason=down.detail)

    def _stop_all(self) -> None:
        for run in self._runs.values():
            run.stop()

    def _poll(self) -> None:
        if self._is_clock_set_back():
            self._end_all()
        wanted = {stream.stream_id: stream for stream in self._ports.store.streams(state=StreamState.RUNNING)}
        for stream_id, run in list(self._runs.items()):
            if stream_id not in wanted or not run.lease.is_held():
                self._end(run)
            else:
                self._look_after(run, wanted[stream_id])
        for stream_id in wanted:
            if stream_id not in self._runs and self._is_due(stream_id) and not self._worker.is_closing:
                self._begin(stream_id)
        for stream_id in self._lags.followed() - wanted.keys():
            self._lags.forget(stream_id)
        self._note_standing()

    def _look_after(self, run: StreamRun, record: StreamRecord) -> None:
        if run.query is None or not run.query.is_active():
            self._ended(run)
        elif (failure := self._loss_of_rights(run, record)) is not None:
            self._end(run)
            self._failed(record.stream_id, failure)
        else:
            self._goes_on(record, run.query)

    def _loss_of_rights(self, run: StreamRun, record: StreamRecord) -> GatewayError | None:
        """Returns why the stream's creator may not write now; it may have resumed it with other roles."""
        run.creator = creator_of(record)
        try:
            run.check_rights()
        except (GrantRevoked, PartDown) as loss:
            return loss
        return None

    def _end_all(self) -> None:
        """Ends all runs, which then begin again.

        Spark begins micro-batches by the wall clock: after the clock was set back, it would wait until the
        clock has caught up.
        """
        for run in list(self._runs.values()):
            log.warning(
                "stream_begun_anew", stream_id=str(run.record.stream_id), reason="The clock was set back."
            )
            self._end(run)

    def _is_clock_set_back(self) -> bool:
        """Returns whether the clock was set back since the last call."""
        (before, before_ms), clock = self._clocks, self._ports.clock
        self._clocks = (clock.now(), clock.elapsed_ms())
        passed = timedelta(milliseconds=self._clocks[1] - before_ms)
        return self._clocks[0] - before < passed - _SET_BACK

    def _note_standing(self) -> None:
        now_ms = self._ports.clock.elapsed_ms()
        if now_ms < self._next_standing_ms:
            return
        self._next_standing_ms = now_ms + self._pace.standing_ms
        counts = Counter(stream.state for stream in self._ports.store.streams())
        self._by_state = {state: counts[state] for state in StreamState}
        for stream_id, run in self._runs.items():
            if run.query is not None:
                self._lags.note(stream_id, run.query.progress(), self._ports.clock.elapsed_ms())

    def _begin(self, stream_id: UUID) -> None:
        lease = self._ports.store.lease(stream_id)
        if lease is None:
            self._lags.forget(stream_id)
            return
        self._lags.follow(stream_id, self._ports.clock.elapsed_ms())
        # Read after the lease: the store has the stream's progress since the former holder released it.
        running = self._ports.store.streams(state=StreamState.RUNNING)
        record = next((record for record in running if record.stream_id == stream_id), None)
        if record is None:
            lease.release()
            return
        try:
            definition = self.read_body(record.body)
            # The operator may allow less now than when it was created.
            self._ports.sources.check(definition.source)
            run = StreamRun(
                record,
                definition,
                lease,
                self._ingests,
                self._ports.store,
                self._ports.clock,
                self._ports.sources.files,
                self._ports.policies,
                partial(self._note_batch, stream_id),
            )
            run.check_rights()
            run.query = self._ports.queries.start(
                stream_id, definition.source, definition.interval_ms, run.take
            )
        except GatewayError as failure:
            lease.release()
            self._failed(stream_id, failure)
            return
        self._runs[stream_id] = run
        log.info("stream_started", stream_id=str(stream_id))

    def _note_batch(self, stream_id: UUID) -> None:
        self._ports.metrics.batch_done()
        self._lags.note_batch(stream_id, self._ports.clock.elapsed_ms())

    def _end(self, run: StreamRun) -> None:
        del self._runs[run.record.stream_id]
        run.stop()
        log.info("stream_stopped", stream_id=str(run.record.stream_id))

    def _ended(self, run: StreamRun) -> None:
        failure = None if run.query is None else run.query.failure()
        self._end(run)
        if failure is None:
            is_closing = self._worker.is_closing
            failure = (
                ShuttingDown() if is_closing else StreamFailed("The stream ended without giving a reason.")
            )
        self._failed(run.record.stream_id, failure)

    def _is_of_a_stop(self, failure: GatewayError) -> bool:
        """Returns whether the cause is this gateway's own shutdown, which needs no report."""
        is_down = isinstance(failure, PartDown) and self._worker.is_closing
        return is_down or isinstance(failure, ShuttingDown)

    def _failed(self, stream_id: UUID, failure: GatewayError) -> None:
        if self._is_of_a_stop(failure):
            log.info(
                "stream_interrupted", stream_id=str(stream_id), reason="It goes on after the next start."
            )
            return
        log.warning("stream_failed", stream_id=str(stream_id), code=failure.code, reason=failure.detail)
        self._ports.metrics.failed(failure.code)
        if not isinstance(failure, _PASSING):
            self._ports.store.move(stream_id, StreamState.FAILED, failure)
            return
        before = self._pauses.get(stream_id)
        failures = 1 if before is None else before.failures + 1
        pause_ms = min(self._pace.first_pause_ms << min(failures - 1, 20), self._pace.longest_pause_ms)
        self._pauses[stream_id] = _Pause(failures, self._ports.clock.elapsed_ms() + pause_ms)
        self._ports.store.move(stream_id, StreamState.RUNNING, failure)

    def _goes_on(self, record: StreamRecord, query: RunningStream) -> None:
        """Clears the stream's error once its source has answered, because the cause has passed."""
        if record.error_code is None and record.stream_id not in self._pauses:
            return
        if query.has_read():
            self._pauses.pop(record.stream_id, None)
            self._ports.store.move(record.stream_id, StreamState.RUNNING)

    def _is_due(self, stream_id: UUID) -> bool:
        pause = self._pauses.get(stream_id)
        return pause is None or pause.until_ms <= self._ports.clock.elapsed_ms()


def _fingerprint(name: str, body: Mapping[str, Any]) -> str:
    """Returns a text that is the same for the same body."""
    return hashlib.sha256(json.dumps([name, body], sort_keys=True).encode()).hexdigest()
