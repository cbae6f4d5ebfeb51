"""The contract of journals, and how the real one behaves while its store is down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

import migrations
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.adapters.telemetry.buffered_journal import BufferedJournal
from service.ports.stores.query_store import Journal
from tests.fakes.clock import FakeClock
from tests.fakes.journal import FakeJournal
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_records import full_record, short_record

RETENTION = timedelta(days=30)


def eventually(is_so: Callable[[], bool], within_s: float = 20) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.005)


@pytest.fixture
def store() -> FakeMetricsStore:
    return FakeMetricsStore()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(store: FakeMetricsStore, clock: FakeClock) -> Iterator[BufferedJournal]:
    real = BufferedJournal(store, clock, RETENTION, capacity=1_000, close_within_s=5)
    yield real
    store.is_down = False
    real.close()


@pytest.fixture(params=["fake", "buffered"])
def journal_that_waits(request: pytest.FixtureRequest, store: FakeMetricsStore) -> Iterator[Journal]:
    if request.param == "fake":
        yield FakeJournal()
        return
    store.is_down = True
    yield request.getfixturevalue("journal")


def test_a_waiting_record_is_found(journal_that_waits: Journal) -> None:
    record = full_record()
    journal_that_waits.append(record)
    assert journal_that_waits.find(record.query_id) == record
    assert journal_that_waits.find(uuid4()) is None


def test_a_waiting_record_is_found_by_its_callers_request_id(journal_that_waits: Journal) -> None:
    record = full_record()
    assert record.request_id is not None
    for kept in (short_record(), record):
        journal_that_waits.append(kept)
    assert journal_that_waits.find_request(record.caller, record.request_id) == record
    assert journal_that_waits.find_request("bob", record.request_id) is None
    assert journal_that_waits.find_request(record.caller, uuid4()) is None


def test_of_two_under_one_request_id_the_first_is_found(journal_that_waits: Journal) -> None:
    first = full_record()
    assert first.request_id is not None
    for record in (first, replace(first, query_id=uuid4())):
        journal_that_waits.append(record)
    assert journal_that_waits.find_request(first.caller, first.request_id) == first


def test_a_request_id_waits_no_more_once_it_is_written(
    journal: BufferedJournal, store: FakeMetricsStore
) -> None:
    record = full_record()
    assert record.request_id is not None
    journal.append(record)
    eventually(lambda: store.records == [record])
    eventually(lambda: journal.find(record.query_id) is None)
    assert journal.find_request(record.caller, record.request_id) is None


def test_a_record_is_written_soon_and_waits_no_more(
    journal: BufferedJournal, store: FakeMetricsStore
) -> None:
    record = full_record()
    journal.append(record)
    eventually(lambda: store.records == [record])
    eventually(lambda: journal.find(record.query_id) is None)


def test_close_writes_what_waits(store: FakeMetricsStore, clock: FakeClock) -> None:
    journal = BufferedJournal(store, clock, RETENTION)
    records = [short_record() for _ in range(3_000)]
    for record in records:
        journal.append(record)
    journal.close()
    journal.close()
    assert store.records == records
    assert max(store.batches) <= 500


def test_close_gives_up_on_a_store_that_is_down(store: FakeMetricsStore, clock: FakeClock) -> None:
    store.is_down = True
    journal = BufferedJournal(store, clock, RETENTION)
    journal.append(short_record())
    before = time.monotonic()
    with capture_logs() as logs:
        journal.close()
    assert time.monotonic() - before < 5
    assert [log["lost"] for log in logs if "lost" in log] == [1]


def test_a_down_store_loses_nothing_and_order_is_preserved(
    journal: BufferedJournal, store: FakeMetricsStore
) -> None:
    store.is_down = True
    records = [short_record() for _ in range(700)]
    for record in records:
        journal.append(record)
    eventually(lambda: store.attempts >= 2)
    assert journal.waiting == 700
    store.is_down = False
    eventually(lambda: journal.waiting == 0)
    assert store.records == records
    assert journal.dropped == 0


def test_a_full_journal_drops_the_oldest_and_says_so(
    journal: BufferedJournal, store: FakeMetricsStore
) -> None:
    store.is_down = True
    records = [short_record() for _ in range(1_010)]
    with capture_logs() as logs:
        for record in records:
            journal.append(record)
    assert (journal.waiting, journal.dropped) == (1_000, 10)
    assert journal.find(records[9].query_id) is None
    assert journal.find(records[10].query_id) == records[10]
    assert len([log for log in logs if "dropped" in log]) == 1


def test_long_plans_do_not_fill_the_memory(store: FakeMetricsStore, clock: FakeClock) -> None:
    store.is_down = True
    journal = BufferedJournal(store, clock, RETENTION, capacity_bytes=1_000)
    records = [replace(short_record(), spark_plan="x" * 400) for _ in range(5)]
    for record in records:
        journal.append(record)
    assert (journal.waiting, journal.dropped) == (2, 3)
    store.is_down = False
    journal.close()
    assert store.records == records[3:]


def test_a_statement_is_bounded_by_its_size_too(store: FakeMetricsStore, clock: FakeClock) -> None:
    store.is_down = True
    journal = BufferedJournal(store, clock, RETENTION)
    records = [replace(short_record(), spark_plan="x" * (1 << 20)) for _ in range(10)]
    records[5] = replace(records[5], spark_plan="x" * (5 << 20))
    for record in records:
        journal.append(record)
    store.is_down = False
    journal.close()
    assert store.records == records
    assert [size for size in store.batch_sizes if size > 4 << 20] == [len(records[5].sql) + (5 << 20)]


def test_one_record_that_the_store_refuses_does_not_block_the_others(
    journal: BufferedJournal, store: FakeMetricsStore
) -> None:
    records = [short_record() for _ in range(700)]
    store.refused = {records[3].query_id}
    store.is_down = True
    with capture_logs() as logs:
        for record in records:
            journal.append(record)
        store.is_down = False
        eventually(lambda: journal.waiting == 0)
    assert store.records == records[:3] + records[4:]
    assert journal.dropped == 1
    dropped = [log["query_id"] for log in logs if log["event"] == "record_refused"]
    assert dropped == [str(records[3].query_id)]


def test_a_store_that_answers_but_takes_nothing_loses_nothing(
    journal: BufferedJournal, store: FakeMetricsStore
) -> None:
    records = [short_record() for _ in range(3)]
    store.refused = {record.query_id for record in records}
    for record in records:
        journal.append(record)
    eventually(lambda: store.attempts > 10)
    assert (journal.waiting, journal.dropped) == (3, 0)
    store.refused = set()
    eventually(lambda: journal.waiting == 0)
    assert store.records == records


def test_old_records_are_forgotten_at_start_and_after_an_hour(
    journal: BufferedJournal, store: FakeMetricsStore, clock: FakeClock
) -> None:
    eventually(lambda: len(store.purged_before) == 1)
    assert store.purged_before == [clock.now() - RETENTION]
    journal.append(short_record(clock.now()))
    eventually(lambda: journal.waiting == 0)
    assert len(store.purged_before) == 1
    clock.advance(timedelta(hours=1))
    journal.append(short_record(clock.now()))
    eventually(lambda: len(store.purged_before) == 2)
    assert store.purged_before[1] == clock.now() - RETENTION


def test_records_outlive_a_real_store_that_stops_and_starts(server_directory: Path) -> None:
    directory = server_directory / "stops and starts"
    server = EmbeddedPostgres.start(directory)
    url = server.url("sluice")
    migrations.upgrade(url)
    store = PostgresQueryStore(url)
    journal = BufferedJournal(store, FakeClock(), RETENTION)
    before, during = full_record(), full_record()
    journal.append(before)
    eventually(lambda: journal.waiting == 0)
    server.stop()
    with capture_logs() as logs:
        journal.append(during)
        eventually(lambda: any(log["event"] == "metrics_store_down" for log in logs))
    assert journal.find(during.query_id) == during
    server = EmbeddedPostgres.start(directory)
    try:
        assert server.url("sluice") == url
        eventually(lambda: journal.waiting == 0)
        assert [store.find(record.query_id) for record in (before, during)] == [before, during]
    finally:
        journal.close()
        store.close()
        server.stop()
