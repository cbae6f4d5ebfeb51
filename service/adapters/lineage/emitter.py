"""Sends events in the background; no request waits for them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import structlog
from openlineage.client.event_v2 import RunEvent
from openlineage.client.serde import Serde

from service.adapters.lineage.query_run_events import QueryEvents
from service.adapters.lineage.transports import NotDelivered, Transport
from service.adapters.lineage.write_events import WriteEvents
from service.model.ingest.ingest import IngestRecord
from service.model.operations.maintenance import MaintenanceRecord
from service.model.query.lineage import EndedRound
from service.model.query.query import QueryRecord
from service.ports.clock import Clock

LARGEST_EVENT = 900_000
"""Kafka's own bound is a million bytes. A larger event is sent without schemas and column lineage."""
WAITING_BYTES = 32 << 20
_OVERHEAD_BYTES = 2_000
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_REPORT_EVERY_MS = 60_000

log = structlog.get_logger(__name__)


class LineageMetrics(Protocol):
    """Counts what became of events. No method blocks or raises."""

    def sent(self, count: int) -> None:
        """Counts delivered events."""

    def dropped(self, count: int) -> None:
        """Counts events that were dropped because the queue was full."""

    def undelivered(self, count: int) -> None:
        """Counts events that could not be delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitterBounds:
    """The size of the queue, how long an event is retried, and how long closing may take."""

    queue_events: int = 10_000
    timeout_s: float = 5.0
    close_within_s: float = 2.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    make: Callable[[], Sequence[RunEvent]]
    byte_count: int


class LineageEmitter:
    """The `Lineage` port: a bounded queue, and one thread that builds and sends events from it.

    An entry that arrives while the queue is full is dropped. An event that cannot be delivered is retried for
    `timeout_s`, and then dropped. `close` sends what is queued, as far as its bound allows.
    """

    def __init__(
        self,
        queries: QueryEvents,
        writes: WriteEvents,
        transport: Transport,
        metrics: LineageMetrics,
        clock: Clock,
        bounds: EmitterBounds | None = None,
    ) -> None:
        self._queries = queries
        self._writes = writes
        self._transport = transport
        self._metrics = metrics
        self._clock = clock
        self._bounds = bounds or EmitterBounds()
        self._waiting: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._next_report_ms = clock.elapsed_ms()
        self._unreported = 0
        self._thread = threading.Thread(target=self._work, name="lineage", daemon=True)
        self._thread.start()

    @property
    def is_followed(self) -> bool:
        """True: events are sent."""
        return True

    def query_taken(self, record: QueryRecord) -> None:
        """See `service.ports.telemetry.lineage.Lineage`."""
        self._put(lambda: [self._queries.taken(record)], len(record.sql))

    def query_ended(self, record: QueryRecord) -> None:
        """See `service.ports.telemetry.lineage.Lineage`."""
        now = self._clock.now()
        # Drops the fields that events do not use, which would take the most memory.
        trimmed = replace(record, spark_plan="", rewritten_sql=None, rewrites=())
        self._put(lambda: [self._queries.ended(trimmed, now)], len(record.sql))

    def ingest_accepted(self, record: IngestRecord, read_from: str) -> None:
        """See `service.ports.telemetry.lineage.Lineage`."""
        self._put(lambda: self._writes.accepted(record, read_from))

    def round_ended(self, ended: EndedRound) -> None:
        """See `service.ports.telemetry.lineage.Lineage`."""
        now = self._clock.now()
        self._put(lambda: self._writes.committed(ended, now))

    def maintained(self, record: MaintenanceRecord) -> None:
        """See `service.ports.telemetry.lineage.Lineage`."""
        now = self._clock.now()
        self._put(lambda: self._writes.maintained(record, now))

    def close(self) -> None:
        """Sends what is queued, within a bound. May be called again."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(self._bounds.close_within_s)
        with self._changed:
            left = len(self._waiting)
            self._waiting.clear()
        if left:
            self._metrics.undelivered(left)
            log.warning("lineage_left_at_stop", count=left)
        if not self._thread.is_alive():
            self._transport.close()

    def _put(self, make: Callable[[], Sequence[RunEvent]], byte_count: int = 0) -> None:
        waiting = _Waiting(make, byte_count + _OVERHEAD_BYTES)
        with self._changed:
            is_full = len(self._waiting) >= self._bounds.queue_events or self._is_heavy(waiting)
            if not is_full and not self._closing.is_set():
                self._waiting.append(waiting)
                self._waiting_bytes += waiting.byte_count
                self._changed.notify()
                return
        self._metrics.dropped(1)
        self._report("the queue is full")

    def _is_heavy(self, more: _Waiting) -> bool:
        return bool(self._waiting) and self._waiting_bytes + more.byte_count > WAITING_BYTES

    def _work(self) -> None:
        while (waiting := self._next()) is not None:
            try:
                for event in waiting.make():
                    self._deliver(event)
            except Exception as failure:  # the outermost edge of a thread that must never end
                self._metrics.undelivered(1)
                log.exception("lineage_crashed", error=type(failure).__name__)

    def _next(self) -> _Waiting | None:
        with self._changed:
            while not self._waiting:
                if self._closing.is_set():
                    return None
                self._changed.wait()
            waiting = self._waiting.popleft()
            self._waiting_bytes -= waiting.byte_count
            return waiting

    def _deliver(self, event: RunEvent) -> None:
        content = as_json(event)
        until_ms = self._clock.elapsed_ms() + self._bounds.timeout_s * 1000
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                self._transport.send(content, event.job.name)
            except NotDelivered as failure:
                is_over = self._clock.elapsed_ms() + pause_s * 1000 >= until_ms
                if is_over or not failure.may_try_again or self._closing.wait(pause_s):
                    self._metrics.undelivered(1)
                    self._report(str(failure))
                    return
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            else:
                self._metrics.sent(1)
                return

    def _report(self, reason: str) -> None:
        """Logs at most one line a minute, so that the log does not fill up."""
        with self._changed:
            self._unreported += 1
            now_ms = self._clock.elapsed_ms()
            if now_ms < self._next_report_ms:
                return
            self._next_report_ms = now_ms + _REPORT_EVERY_MS
            count, self._unreported = self._unreported, 0
        log.warning("lineage_dropped", reason=reason, count=count)


def as_json(event: RunEvent) -> bytes:
    """Returns the event as one line; without its largest facets if it would be too large."""
    content: bytes = Serde.to_json(event).encode()
    if len(content) <= LARGEST_EVENT:
        return content
    for dataset in [*(event.inputs or ()), *(event.outputs or ())]:
        for name in ("schema", "columnLineage"):
            if dataset.facets is not None:
                dataset.facets.pop(name, None)
    shorter: bytes = Serde.to_json(event).encode()
    return shorter
