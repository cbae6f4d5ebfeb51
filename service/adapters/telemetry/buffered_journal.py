"""Buffers query records for the metrics store, which may be down for a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate, islice
from threading import Condition, Event, Thread
from uuid import UUID

import structlog
from tenacity import RetryError, Retrying, retry_if_exception_type, wait_random_exponential
from tenacity.nap import sleep_using_event
from tenacity.stop import stop_when_event_set

from service.adapters.telemetry.record_collector import RecordsUse
from service.errors.unavailable import MetricsStoreDown
from service.model.operations.health import PartState
from service.model.query.query import QueryRecord
from service.ports.clock import Clock
from service.ports.stores.query_store import QueryStore
from service.tracing import together

BATCH = 500
BATCH_SIZE = 4 << 20
LONGEST_PAUSE_S = 5.0
LINGER_S = 0.1
LOOK_AROUND_S = 60.0
PURGE_EVERY_MS = 3_600_000

log = structlog.get_logger(__name__)


class BufferedJournal:
    """The `Journal` port: a bounded buffer, and one thread that writes it out in batches.

    It holds at most `capacity` records, and about `capacity_bytes` of text: plans can be long. While the
    store is down the records wait here, and the thread tries again with growing pauses. The same thread
    deletes records older than `retention`, at start and hourly.
    """

    def __init__(
        self,
        store: QueryStore,
        clock: Clock,
        retention: timedelta,
        capacity: int = 10_000,
        capacity_bytes: int = 64 << 20,
        close_within_s: float = 5.0,
    ) -> None:
        self._store = store
        self._clock = clock
        self._retention = retention
        self._capacity = capacity
        self._capacity_bytes = capacity_bytes
        self._close_within_s = close_within_s
        self._waiting: dict[UUID, QueryRecord] = {}
        self._by_request: dict[tuple[str, UUID], QueryRecord] = {}
        self._waiting_bytes = 0
        self._dropped = 0
        self._next_purge_ms = clock.elapsed_ms()
        self._changed = Condition()
        self._closing = Event()
        self._writer = Thread(target=self._write_until_closed, name="journal", daemon=True)
        self._writer.start()

    @property
    def use(self) -> RecordsUse:
        """How many records wait, and how many were dropped."""
        with self._changed:
            return RecordsUse(len(self._waiting), self._capacity, self._dropped)

    @property
    def waiting(self) -> int:
        """How many records are not written yet."""
        with self._changed:
            return len(self._waiting)

    @property
    def dropped(self) -> int:
        """How many records were dropped since the start: to make room, or because the store rejected them."""
        with self._changed:
            return self._dropped

    def append(self, record: QueryRecord) -> None:
        """Keeps the record until it is written. Never blocks, never raises; the oldest is dropped if full."""
        with self._changed:
            before = self._dropped
            if record.query_id not in self._waiting:
                self._waiting[record.query_id] = record
                self._waiting_bytes += _size(record)
                if record.request_id is not None:
                    # As in the store: if two queries have the same requestId, the first counts.
                    self._by_request.setdefault((record.caller, record.request_id), record)
            while len(self._waiting) > 1 and self._is_over_full():
                self._forget(next(iter(self._waiting)))
                self._dropped += 1
            dropped = self._dropped
            self._changed.notify()
        # One line for the first and then for every thousandth, so that the log does not fill up.
        if before < dropped and (before == 0 or before // 1000 < dropped // 1000):
            log.warning("oldest_records_dropped", dropped=dropped)

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns a record that still waits to be written."""
        with self._changed:
            return self._waiting.get(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the same, by the id that this caller gave the request."""
        with self._changed:
            return self._by_request.get((caller, request_id))

    def close(self) -> None:
        """Writes what waits, within a bound. May be called again."""
        self._closing.set()
        with self._changed:
            self._changed.notify()
        self._writer.join(self._close_within_s)
        if self.waiting:
            log.error("records_lost", lost=self.waiting)

    def _write_until_closed(self) -> None:
        while not self._closing.is_set():
            self._write_all()
            self._purge_if_due()
            with self._changed:
                self._changed.wait_for(self._has_work, timeout=LOOK_AROUND_S)
            # One transaction for all records that arrive within a moment, instead of one for each query.
            self._closing.wait(LINGER_S)
        self._write_all()

    def _has_work(self) -> bool:
        return bool(self._waiting) or self._closing.is_set()

    def _write_all(self) -> None:
        retrying = Retrying(
            retry=retry_if_exception_type(MetricsStoreDown),
            wait=wait_random_exponential(multiplier=0.1, max=LONGEST_PAUSE_S),
            sleep=sleep_using_event(self._closing),
            stop=stop_when_event_set(self._closing),
            before_sleep=lambda state: self._warn_once(state.attempt_number),
        )
        try:
            while self.waiting:
                retrying(self._write_batch)
        except RetryError:
            # Only when closing: the rest is counted there.
            return

    def _write_batch(self) -> None:
        # Taken again for each attempt: the oldest may have been dropped since.
        with self._changed:
            oldest = list(islice(self._waiting.values(), BATCH))
        batch = _of_bounded_size(oldest)
        try:
            with together("sluice.records.write", [record.trace for record in batch]) as span:
                span.note({"sluice.records": len(batch)})
                self._store.record(batch)
        except MetricsStoreDown:
            if self._is_store_down():
                raise
            self._write_one_by_one(oldest)
            return
        with self._changed:
            for record in batch:
                self._forget(record.query_id)

    def _write_one_by_one(self, records: Sequence[QueryRecord]) -> None:
        """Drops records that the store rejects while it accepts others.

        If it accepts none, the store itself is at fault.
        """
        refused: list[QueryRecord] = []
        for record in records:
            try:
                self._store.record([record])
            except MetricsStoreDown:
                if self._is_store_down():
                    raise
                refused.append(record)
            else:
                with self._changed:
                    self._forget(record.query_id)
        if len(refused) == len(records):
            raise MetricsStoreDown("The metrics store answers, but takes no records.")
        for record in refused:
            log.error("record_refused", query_id=str(record.query_id))
            with self._changed:
                self._forget(record.query_id)
                self._dropped += 1

    def _is_store_down(self) -> bool:
        return self._store.health().state is not PartState.UP

    def _is_over_full(self) -> bool:
        return len(self._waiting) > self._capacity or self._waiting_bytes > self._capacity_bytes

    def _forget(self, query_id: UUID) -> None:
        record = self._waiting.pop(query_id, None)
        if record is None:
            return
        self._waiting_bytes -= _size(record)
        if record.request_id is not None:
            request = (record.caller, record.request_id)
            if self._by_request.get(request) is record:
                del self._by_request[request]

    def _warn_once(self, attempt: int) -> None:
        if attempt == 1:
            log.warning("metrics_store_down", waiting=self.waiting)

    def _purge_if_due(self) -> None:
        if self._clock.elapsed_ms() < self._next_purge_ms:
            return
        try:
            forgotten = self._store.forget_before(self._clock.now() - self._retention)
        except MetricsStoreDown:
            # Still due: it is tried again when there is something to write, or a minute later.
            return
        self._next_purge_ms = self._clock.elapsed_ms() + PURGE_EVERY_MS
        if forgotten:
            log.info("old_records_forgotten", count=forgotten)


def _of_bounded_size(records: Sequence[QueryRecord]) -> list[QueryRecord]:
    """The first records, up to `BATCH_SIZE` characters together; at least one."""
    ends = accumulate(_size(record) for record in records)
    return [record for record, end in zip(records, ends, strict=True) if end <= BATCH_SIZE] or list(
        records[:1]
    )


def _size(record: QueryRecord) -> int:
    return len(record.sql) + len(record.rewritten_sql or "") + len(record.spark_plan)
