"""The event queue delays no caller and does not grow without bounds."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from service.adapters.clock import SystemClock
from service.adapters.lineage.dataset_names import DatasetNames
from service.adapters.lineage.emitter import WAITING_BYTES, EmitterBounds, LineageEmitter
from service.adapters.lineage.lineage_journal import LineageJournal
from service.adapters.lineage.lineage_tables import KnownTables
from service.adapters.lineage.query_run_events import QueryEvents
from service.adapters.lineage.transports import NotDelivered, Transport
from service.adapters.lineage.write_events import WriteEvents
from service.model.query.lineage import ResultLineage
from service.model.query.query import QueryRecord
from service.model.tables.tables import TableAt, TableFacts
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.journal import FakeJournal
from tests.fakes.lineage import FakeLineage, FakeLineageMetrics, FakeTransport
from tests.fakes.query_records import full_record, short_record
from tests.polling import until

AT_ONCE_S = 1.0


class BrokenCatalogs(FakeCatalogs):
    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        raise RuntimeError(f"a fault of ours, with {len(tables)} tables")


@contextmanager
def emitting(
    transport: Transport,
    metrics: FakeLineageMetrics,
    bounds: EmitterBounds | None = None,
    catalogs: FakeCatalogs | None = None,
) -> Iterator[LineageEmitter]:
    names, tables = DatasetNames({}, "sluice"), KnownTables(catalogs or FakeCatalogs())
    queries, writes = QueryEvents("sluice", names, tables), WriteEvents("sluice", names, tables)
    emitter = LineageEmitter(queries, writes, transport, metrics, SystemClock(), bounds)
    try:
        yield emitter
    finally:
        emitter.close()


def run(emitter: LineageEmitter, record: QueryRecord | None = None) -> None:
    record = record or short_record()
    emitter.query_taken(record)
    emitter.query_ended(record)


def test_events_leave_in_their_order_and_the_stop_waits_for_them() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    with emitting(transport, metrics, EmitterBounds(close_within_s=30)) as emitter:
        for _ in range(20):
            run(emitter)
    assert [event["eventType"] for event in transport.events] == ["START", "COMPLETE"] * 20
    assert (metrics.sent_count, metrics.dropped_count, metrics.undelivered_count) == (40, 0, 0)
    assert transport.is_closed


def test_while_nothing_leaves_nobody_waits_and_what_is_too_much_is_discarded() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    transport.may_go_on.clear()
    with emitting(transport, metrics, EmitterBounds(queue_events=10, close_within_s=30)) as emitter:
        run(emitter)
        assert transport.has_begun.wait(30)
        began = time.monotonic()
        for _ in range(1_000):
            run(emitter)
        assert time.monotonic() - began < AT_ONCE_S
        assert metrics.dropped_count == 2_001 - 10
        transport.may_go_on.set()
    assert metrics.sent_count == 11


def test_long_texts_that_wait_are_bounded_together() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    transport.may_go_on.clear()
    with emitting(transport, metrics, EmitterBounds(close_within_s=0.1)) as emitter:
        emitter.query_taken(short_record())
        assert transport.has_begun.wait(30)
        long = replace(short_record(), sql="x" * (WAITING_BYTES // 4))
        for _ in range(10):
            emitter.query_taken(long)
        assert metrics.dropped_count == 7
    transport.may_go_on.set()


def test_what_does_not_get_there_is_tried_again_and_then_discarded() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    failures = iter([NotDelivered("busy"), NotDelivered("busy")])
    transport.failure = lambda: next(failures, None)
    with emitting(transport, metrics, EmitterBounds(timeout_s=30, close_within_s=30)) as emitter:
        emitter.query_taken(short_record())
        until(lambda: metrics.sent_count == 1)
        assert transport.attempts == 3
        transport.failure = lambda: NotDelivered("it is none", may_try_again=False)
        emitter.query_taken(short_record())
        until(lambda: metrics.undelivered_count == 1)
        assert transport.attempts == 4


def test_an_event_is_given_up_in_time_and_the_next_one_has_its_turn() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    transport.failure = lambda: NotDelivered("down")
    with emitting(transport, metrics, EmitterBounds(timeout_s=0.25)) as emitter:
        run(emitter)
        until(lambda: metrics.undelivered_count == 2)
        transport.failure = lambda: None
        run(emitter)
        until(lambda: metrics.sent_count == 2)


def test_a_stop_has_a_bound_whatever_hangs() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    transport.may_go_on.clear()
    with emitting(transport, metrics, EmitterBounds(close_within_s=0.1)) as emitter:
        run(emitter)
        run(emitter)
        assert transport.has_begun.wait(30)
        began = time.monotonic()
        emitter.close()
        assert time.monotonic() - began < AT_ONCE_S
        assert metrics.undelivered_count == 3
        run(emitter)
        assert metrics.dropped_count == 2
    transport.may_go_on.set()
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "lineage"])


def test_a_fault_in_one_event_is_not_the_end_of_the_others() -> None:
    transport, metrics = FakeTransport(), FakeLineageMetrics()
    with emitting(transport, metrics, EmitterBounds(close_within_s=30), BrokenCatalogs()) as emitter:
        emitter.query_ended(full_record())
        emitter.query_taken(short_record())
    assert (metrics.sent_count, metrics.undelivered_count) == (1, 1)


def test_the_journal_tells_of_each_record_and_keeps_what_is_for_the_store() -> None:
    lineage, journal = FakeLineage(), FakeJournal()
    record = replace(short_record(), lineage=ResultLineage((), None))
    reported = LineageJournal(journal, lineage)
    reported.append(record)
    assert lineage.ended == [record]
    assert reported.find(record.query_id) == replace(record, lineage=None)
