"""The bounded buffer of events on their way to the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, islice
from threading import Condition

import structlog

from service.audit.event_lines import event_text
from service.errors.policy_errors import AuditLogFull
from service.errors.unavailable import MetricsStoreDown
from service.model.audit.events import AuditEvent, AuditUse, Details, WhenFull
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.stores.audit_log import AuditLog, TakeEvents

BATCH = 500
BATCH_BYTES = 4 << 20
INTERVAL_S = 0.5
LONGEST_PAUSE_S = 5.0
PURGE_EVERY_MS, PURGE_AGAIN_MS = 3_600_000, 60_000
_EVENT_BYTES = 600
"""About the size of an event without its texts."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferBounds:
    """The bounds of the buffer, and of the time that its close takes."""

    capacity: int = 10_000
    capacity_bytes: int = 64 << 20
    when_full: WhenFull = WhenFull.DROP
    close_within_s: float = 5.0


class AuditBuffer:
    """The `AuditTrail` port: a buffer, and one thread that writes it out in batches.

    While the store is down, the events wait here. With `WhenFull.REFUSE`, each audited request reserves a
    place before it does anything, so its event is not lost while the process lives. With `WhenFull.DROP`, new
    events are dropped when the buffer is full: they are counted, and each is a line in the log. Events
    without a reserved place use only half of the buffer. The same thread deletes entries that are older than
    `retention`, at start and hourly.
    """

    def __init__(
        self, log: AuditLog, clock: Clock, retention: timedelta, bounds: BufferBounds = BufferBounds()
    ) -> None:
        self._log = log
        self._clock = clock
        self._retention = retention
        self._bounds = bounds
        self._changed = Condition()
        self._waiting: deque[AuditEvent] = deque()
        self._waiting_bytes = 0
        self._reserved = 0
        self._written = self._dropped = self._refused = 0
        self._failures = 0
        self._is_closed = False
        self._next_purge_ms = clock.elapsed_ms()
        self._take_sums: TakeEvents | None = None
        self._worker = PeriodicWorker("audit", self._work, self._pause_s, at_end=self._write_last)

    def start(self) -> None:
        """Starts the thread that writes."""
        self._worker.start()

    def follow(self, take: TakeEvents) -> None:
        """See the port's `follow`. Nothing is taken while more than half of the buffer is full."""
        self._take_sums = take

    @property
    def use(self) -> AuditUse:
        """The numbers as they are now."""
        with self._changed:
            return AuditUse(
                len(self._waiting), self._bounds.capacity, self._written, self._dropped, self._refused
            )

    def reserve(self) -> None:
        """See the port's `reserve`."""
        with self._changed:
            if self._bounds.when_full is WhenFull.REFUSE and self._is_full():
                self._refused += 1
                raise AuditLogFull
            self._reserved += 1

    def write(self, event: AuditEvent, *, is_reserved: bool = False) -> None:
        """See the port's `write`."""
        with self._changed:
            if is_reserved:
                self._reserved -= 1
                self._changed.notify_all()
            is_kept = not self._is_closed and self._has_place(is_reserved=is_reserved)
            if is_kept:
                self._waiting.append(event)
                self._waiting_bytes += size_of(event)
            else:
                self._dropped += 1
            is_batch = len(self._waiting) >= BATCH
        if not is_kept:
            _log.error("audit_event_dropped", detail=event_text(event))
        elif is_batch and not self._failures:
            self._worker.wake()

    def close(self) -> None:
        """Waits for events of requests in progress, and writes all, within a bound. May be called again."""
        until_ms = self._clock.elapsed_ms() + self._bounds.close_within_s * 1000
        with self._changed:
            self._changed.wait_for(lambda: self._reserved <= 0, timeout=self._bounds.close_within_s / 2)
        self._worker.close(max(0.5, (until_ms - self._clock.elapsed_ms()) / 1000))
        with self._changed:
            self._is_closed = True
            lost = list(self._waiting)
            self._waiting.clear()
            self._dropped += len(lost)
        for event in lost:
            _log.error("audit_event_lost", detail=event_text(event))

    def flush(self) -> None:
        """Writes all waiting events now.

        Raises:
            MetricsStoreDown: the log does not take them. They still wait.
        """
        while batch := self._batch():
            self._write(batch)

    def _work(self) -> None:
        with self._changed:
            has_room = len(self._waiting) < self._bounds.capacity // 2
        if has_room:
            self._take(is_all=False)
        try:
            self.flush()
        except MetricsStoreDown:
            self._failures += 1
            if self._failures == 1:
                _log.warning("audit_log_down", waiting=self.use.waiting)
            return
        if self._failures:
            _log.info("audit_log_back")
        self._failures = 0
        self._purge_if_due()

    def _write_last(self) -> None:
        self._take(is_all=True)
        self.flush()

    def _take(self, *, is_all: bool) -> None:
        if self._take_sums is not None:
            for event in self._take_sums(is_all):
                self.write(event)

    def _pause_s(self) -> float:
        return min(INTERVAL_S * (1 << min(self._failures, 10)), LONGEST_PAUSE_S)

    def _batch(self) -> list[AuditEvent]:
        with self._changed:
            oldest = list(islice(self._waiting, BATCH))
        ends = accumulate(map(size_of, oldest))
        fitting = [event for event, end in zip(oldest, ends, strict=True) if end <= BATCH_BYTES]
        return fitting or oldest[:1]

    def _write(self, batch: Sequence[AuditEvent]) -> None:
        try:
            self._log.add(batch)
        except MetricsStoreDown:
            self._write_one_by_one(batch)
        else:
            self._forget(batch, written=len(batch))

    def _write_one_by_one(self, batch: Sequence[AuditEvent]) -> None:
        """Drops events that the log rejects while it accepts others: they must not block these.

        Raises:
            MetricsStoreDown: the log accepts nothing. Everything still waits.
        """
        accepted: AuditEvent | None = None
        rejected: list[AuditEvent] = []
        for event in batch:
            try:
                self._log.add([event])
                accepted = event
            except MetricsStoreDown:
                rejected.append(event)
                if accepted is not None:
                    # It is stored already, so this only asks whether the log still answers.
                    self._log.add([accepted])
                elif len(rejected) == min(2, len(batch)):
                    raise
        self._forget(batch, written=len(batch) - len(rejected))
        for event in rejected:
            _log.error("audit_event_rejected", detail=event_text(event))

    def _forget(self, batch: Sequence[AuditEvent], *, written: int) -> None:
        with self._changed:
            # None are left if the buffer was closed while the log took long.
            for _ in range(min(len(batch), len(self._waiting))):
                self._waiting_bytes -= size_of(self._waiting.popleft())
            self._written += written
            self._dropped += len(batch) - written

    def _has_place(self, *, is_reserved: bool) -> bool:
        if is_reserved:
            return self._bounds.when_full is WhenFull.REFUSE or not self._is_full()
        # Anyone can cause refused reads, and these must not take the places of requests.
        return not self._is_full() and self._used() < max(1, self._bounds.capacity // 2)

    def _is_full(self) -> bool:
        is_over = self._waiting_bytes >= self._bounds.capacity_bytes
        return is_over or self._used() >= self._bounds.capacity

    def _used(self) -> int:
        has_places = self._bounds.when_full is WhenFull.REFUSE
        return len(self._waiting) + (self._reserved if has_places else 0)

    def _purge_if_due(self) -> None:
        if self._clock.elapsed_ms() < self._next_purge_ms:
            return
        try:
            forgotten = self._log.forget(self._retention)
        except MetricsStoreDown as down:
            _log.warning("old_audit_events_not_forgotten", reason=down.detail)
            self._next_purge_ms = self._clock.elapsed_ms() + PURGE_AGAIN_MS
            return
        self._next_purge_ms = self._clock.elapsed_ms() + PURGE_EVERY_MS
        if forgotten:
            _log.info("old_audit_events_forgotten", count=forgotten)


def size_of(event: AuditEvent) -> int:
    """Returns about how many bytes the event takes in memory."""
    return _EVENT_BYTES + _size_of_texts(event.details)


def _size_of_texts(details: Details) -> int:
    names = sum(map(len, details.tables)) + sum(
        len(name) + 50 for names in details.columns.values() for name in names
    )
    return len(details.statement or "") + names
