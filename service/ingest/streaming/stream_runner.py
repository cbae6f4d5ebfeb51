"""Runs streams in this replica: begins each that should run, looks after it, and ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from logging import INFO, WARNING
from uuid import UUID

import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.ingest_errors import TooManyIngests
from service.errors.source_errors import GrantRevoked, StreamFailed
from service.errors.table_errors import TableChanged
from service.errors.unavailable import ShuttingDown
from service.ingest.ingest_service import IngestService
from service.ingest.streaming.set_back_clock import SetBackClock
from service.ingest.streaming.stream_creator import creator_of
from service.ingest.streaming.stream_lags import StreamLags
from service.ingest.streaming.stream_pauses import StreamPauses
from service.ingest.streaming.stream_ports import ReadBody, StreamPace, StreamPorts
from service.ingest.streaming.stream_run import StreamRun
from service.model.ingest.stream_standing import StreamLag, StreamStanding
from service.model.ingest.streams import StreamRecord, StreamState
from service.periodic_worker import PeriodicWorker
from service.ports.engine.stream_queries import RunningStream

log = structlog.get_logger(__name__)

# Errors that pass by themselves.
_PASSING = (PartDown, TooManyIngests, TableChanged)


class StreamRunner:
    """The streams that run here, each under a lease of its own; any thread may call any method.

    A thread of its own starts and stops them.
    """

    def __init__(
        self, ports: StreamPorts, ingests: IngestService, read_body: ReadBody, pace: StreamPace
    ) -> None:
        self._read_body = read_body
        self._ports = ports
        self._ingests = ingests
        self._pace = pace
        self._runs: dict[UUID, StreamRun] = {}
        self._pauses = StreamPauses(ports.clock, pace)
        self._lags = StreamLags()
        self._by_state: Mapping[StreamState, int] = {}
        self._next_standing_ms = 0
        self._clock = SetBackClock(ports.clock)
        self._worker = PeriodicWorker(
            "streams", self._supervise, pace.look_around_ms / 1000, at_end=self._stop_all
        )

    @property
    def runs(self) -> Mapping[UUID, StreamRun]:
        """The streams that run here now."""
        return self._runs

    def start(self) -> None:
        """Begins to run streams, including those of earlier processes."""
        self._worker.start()

    def look_now(self, stream_id: UUID) -> None:
        """Looks at once at a stream whose state has changed. Its earlier failures count no longer."""
        self._pauses.forget(stream_id)
        self._worker.wake()

    def standing(self) -> StreamStanding:
        """Returns the streams' progress as of the last poll, at once and without asking any source."""
        lag_ms = self._lags.longest_ms(self._ports.clock.elapsed_ms())
        return StreamStanding(self._by_state, len(self._runs), lag_ms / 1000, self._lags.messages)

    def lag_of(self, stream_id: UUID) -> StreamLag | None:
        """Returns the lag of a stream as of the last poll, at once; None if it does not run here."""
        return self._lags.of(stream_id, self._ports.clock.elapsed_ms())

    def stop_taking(self) -> None:
        """Begins to end the streams that run here, without waiting; they continue after the next start."""
        self._worker.close()

    def close(self, timeout_s: float) -> None:
        """Ends the streams that run here; they continue after the next start, or in another replica."""
        self.stop_taking()
        self._worker.close(timeout_s)

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
        if self._clock.is_set_back():
            self._end_all()
        wanted = {stream.stream_id: stream for stream in self._ports.store.streams(state=StreamState.RUNNING)}
        for stream_id, run in list(self._runs.items()):
            if stream_id not in wanted or not run.lease.is_held():
                self._end(run)
            else:
                self._look_after(run, wanted[stream_id])
        for stream_id in wanted:
            if stream_id not in self._runs and self._pauses.is_due(stream_id) and not self._worker.is_closing:
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
            definition = self._read_body(record.body)
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
        self._pauses.note_failure(stream_id)
        self._ports.store.move(stream_id, StreamState.RUNNING, failure)

    def _goes_on(self, record: StreamRecord, query: RunningStream) -> None:
        """Clears the stream's error once its source has answered, because the cause has passed."""
        if record.error_code is None and not self._pauses.has_failed(record.stream_id):
            return
        if query.has_read():
            self._pauses.forget(record.stream_id)
            self._ports.store.move(record.stream_id, StreamState.RUNNING)
