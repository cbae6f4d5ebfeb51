"""The contract of ingest histories, checked on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import create_engine, text

from service.adapters.postgres.ingest_log.ingest_history import PostgresIngestHistory
from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.adapters.postgres.streams.stream_store import PostgresStreamStore
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.ingest import IngestRecord, IngestState
from service.model.ingest.ingest_history import IngestListing, IngestPosition, Spread
from service.model.ingest.streams import BatchDone, StreamRecord
from service.model.ingest.writing import CommitResult, TableKey, WriteResult
from service.ports.stores.ingest_log import IngestHistory, IngestLog
from service.ports.stores.stream_store import StreamStore
from tests.fakes.ingest_history import FakeIngestHistory
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingests import ACCEPTED_AT, LOGS, ORDERS, ingest_of, write_result
from tests.fakes.stream_store import FakeStreamStore

NOBODY_THERE = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"
LATER = ACCEPTED_AT + timedelta(days=1)
# Rounds end at the current time, whenever their ingests were accepted.
FAR_AHEAD = datetime(2100, 1, 1, tzinfo=UTC)
MANY = 1_000


@dataclass
class Archive:
    """An ingest log to write to, and the history that reads it."""

    log: IngestLog
    history: IngestHistory
    streams: StreamStore

    def accept(
        self,
        *results: WriteResult,
        days: int = 0,
        write_ms: int = 0,
        caller: str = "ann",
        stream_batch: str | None = None,
    ) -> IngestRecord:
        record = replace(
            ingest_of(results, request_id=uuid4(), caller=caller),
            accepted_at=ACCEPTED_AT + timedelta(days=days),
            write_ms=write_ms,
            stream_batch=stream_batch,
        )
        return self.log.accept(record, results)

    def commit(self, key: TableKey = LOGS, snapshot_id: int = 7) -> None:
        with self.log.round(key, MANY) as pending:
            assert pending is not None
            pending.committed(CommitResult(key, snapshot_id, 1, 10, 1_000))

    def refuse(self, key: TableKey = LOGS) -> None:
        with self.log.round(key, MANY) as pending:
            assert pending is not None
            pending.refused("TABLE_CHANGED", "other spec")

    def accept_batch(self, checkpoint_id: UUID, batch_id: int) -> IngestRecord:
        record = self.accept(write_result(), stream_batch=f"{checkpoint_id}/{batch_id}")
        self.commit()
        return record

    def listed(self, **asked: object) -> list[IngestRecord]:
        return list(self.history.ingests(replace(IngestListing("ann", MANY), **asked)))  # type: ignore[arg-type]


@pytest.fixture(params=["fake", "postgres"])
def archive(request: pytest.FixtureRequest) -> Iterator[Archive]:
    if request.param == "fake":
        fake, known = FakeIngestLog(), FakeStreamStore()
        yield Archive(fake, FakeIngestHistory(fake, known), known)
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE ingests, commit_rounds CASCADE"))
    engine.dispose()
    log, history, streams = PostgresIngestLog(url), PostgresIngestHistory(url), PostgresStreamStore(url)
    yield Archive(log, history, streams)
    log.close()
    history.close()
    streams.close()


@pytest.fixture(params=["fake", "postgres"])
def history_that_is_down(request: pytest.FixtureRequest) -> Iterator[IngestHistory]:
    if request.param == "fake":
        fake = FakeIngestLog()
        fake.is_down = True
        yield FakeIngestHistory(fake)
        return
    real = PostgresIngestHistory(NOBODY_THERE)
    yield real
    real.close()


def test_a_callers_ingests_are_listed_newest_first(archive: Archive) -> None:
    records = [archive.accept(write_result(), days=days, write_ms=days) for days in (2, 0, 1)]
    archive.accept(write_result(), caller="bob")
    assert archive.listed() == [records[0], records[2], records[1]]
    assert archive.listed(limit=1) == [records[0]]
    before = IngestPosition(records[0].accepted_at, records[0].ingest_id)
    assert archive.listed(before=before, limit=1) == [records[2]]


def test_ingests_are_listed_by_their_state(archive: Archive) -> None:
    archive.accept(write_result(LOGS))
    archive.commit(LOGS)
    archive.accept(write_result(LOGS), write_result(ORDERS), days=1)
    archive.refuse(LOGS)
    archive.accept(write_result(LOGS), days=2)
    for state, days in ((IngestState.COMMITTED, 0), (IngestState.FAILED, 1), (IngestState.ACCEPTED, 2)):
        [found] = archive.listed(state=state)
        assert (found.state, found.accepted_at) == (state, ACCEPTED_AT + timedelta(days=days))


def test_a_summary_has_what_was_written_and_what_came_of_it(archive: Archive) -> None:
    for number in range(1, 21):
        archive.accept(write_result(LOGS, 2, column_ids=(number % 4,)), write_ms=number)
    archive.commit(LOGS)
    archive.accept(write_result(LOGS), write_result(ORDERS), write_ms=40)
    archive.refuse(LOGS)
    [logs, orders] = archive.history.tables(ACCEPTED_AT, None)
    assert (logs.table, logs.ingest_count, logs.waiting_count) == (str(LOGS.table), 21, 0)
    assert logs.failed_by_code == {"TABLE_CHANGED": 1}
    assert (logs.record_count, logs.data_file_count, logs.byte_count) == (410, 41, 41_000)
    assert logs.write_ms == Spread(11, 20, 40)
    assert (logs.round_count, logs.ingests_in_rounds, logs.most_ingests_of_a_round) == (1, 20, 20)
    assert (logs.ingests_per_round, logs.targets_per_round) == (20, 4)
    assert 0 <= logs.commit_ms.p50 <= logs.commit_ms.maximum
    assert (orders.table, orders.ingest_count, orders.waiting_count) == (str(ORDERS.table), 1, 1)
    assert (orders.round_count, orders.ingests_per_round, orders.commit_ms) == (0, 0, Spread())


def test_a_summary_counts_data_files_alone(archive: Archive) -> None:
    archive.accept(write_result(LOGS, 3))
    archive.accept(replace(write_result(LOGS, 2, is_upsert=True), delete_files=("some deletes",)))
    [logs] = archive.history.tables(ACCEPTED_AT, None)
    assert (logs.data_file_count, logs.byte_count) == (5, 5_000)


def test_a_summary_begins_where_it_is_asked_to_and_may_be_of_one_table(archive: Archive) -> None:
    archive.accept(write_result(LOGS))
    archive.accept(write_result(LOGS), write_result(ORDERS), days=1)
    assert [table.ingest_count for table in archive.history.tables(LATER, None)] == [1, 1]
    [found] = archive.history.tables(ACCEPTED_AT, str(LOGS.table))
    assert (found.table, found.ingest_count) == (str(LOGS.table), 2)
    assert archive.history.tables(FAR_AHEAD, str(LOGS.table)) == []


def test_what_has_ended_is_forgotten_and_what_waits_never_is(archive: Archive) -> None:
    ended = archive.accept(write_result(LOGS))
    archive.commit(LOGS)
    half = archive.accept(write_result(LOGS), write_result(ORDERS))
    archive.commit(LOGS)
    waiting = archive.accept(write_result(LOGS))
    assert archive.history.forget_before(FAR_AHEAD, MANY) == 1
    assert archive.log.find(ended.ingest_id) is None
    assert ended.request_id is not None
    assert archive.log.find_request("ann", ended.request_id) is None
    assert archive.log.find(half.ingest_id) is not None
    assert archive.log.find(waiting.ingest_id) is not None
    assert set(archive.log.waiting().keys) == {LOGS, ORDERS}


def test_no_more_is_forgotten_at_once_than_was_asked_for(archive: Archive) -> None:
    for _ in range(3):
        archive.accept(write_result())
    archive.commit()
    assert [archive.history.forget_before(FAR_AHEAD, 2) for _ in range(3)] == [2, 1, 0]


def test_what_is_younger_is_not_forgotten(archive: Archive) -> None:
    archive.accept(write_result(), days=1)
    archive.commit()
    assert archive.history.forget_before(LATER, MANY) == 0


def test_what_was_refused_is_forgotten_as_what_was_committed_is(archive: Archive) -> None:
    archive.accept(write_result(LOGS))
    archive.commit(LOGS)
    archive.accept(write_result(LOGS, 2))
    archive.refuse(LOGS)
    assert archive.history.forget_before(FAR_AHEAD, MANY) == 2
    assert archive.listed() == []


def test_a_batch_that_its_stream_does_not_know_to_be_done_is_not_forgotten(archive: Archive) -> None:
    stream = StreamRecord(uuid4(), "ann", "clicks", {}, ACCEPTED_AT)
    archive.streams.add(stream)
    # The second id has two digits, so that text order differs from numeric order.
    checkpoint_id, [earlier, newest] = uuid4(), [9, 10]
    known, unknown = (archive.accept_batch(checkpoint_id, batch_id) for batch_id in (earlier, newest))
    archive.streams.done(stream.stream_id, BatchDone(checkpoint_id, earlier, ACCEPTED_AT, 10, 0))
    assert archive.history.forget_before(FAR_AHEAD, MANY) == 1
    assert archive.log.find(known.ingest_id) is None
    assert archive.log.find(unknown.ingest_id) is not None
    archive.streams.done(stream.stream_id, BatchDone(checkpoint_id, newest, ACCEPTED_AT, 10, 0))
    assert archive.history.forget_before(FAR_AHEAD, MANY) == 1
    assert archive.log.find(unknown.ingest_id) is None


def test_the_first_batch_of_a_stream_that_knows_of_none_is_not_forgotten(archive: Archive) -> None:
    archive.streams.add(StreamRecord(uuid4(), "ann", "clicks", {}, ACCEPTED_AT))
    first = archive.accept_batch(uuid4(), 0)
    assert archive.history.forget_before(FAR_AHEAD, MANY) == 0
    assert archive.log.find(first.ingest_id) is not None


@pytest.mark.parametrize(
    "ask",
    [
        lambda history: history.ingests(IngestListing("ann", 1)),
        lambda history: history.tables(ACCEPTED_AT, None),
        lambda history: history.forget_before(ACCEPTED_AT, 1),
    ],
    ids=["ingests", "tables", "forget_before"],
)
def test_a_history_that_is_down_raises_without_address_or_secret(
    history_that_is_down: IngestHistory, ask: Callable[[IngestHistory], object]
) -> None:
    with pytest.raises(MetricsStoreDown) as caught:
        ask(history_that_is_down)
    assert "127.0.0.1" not in caught.value.detail
    assert "topsecret" not in caught.value.detail


def test_an_ingest_that_ended_late_is_retained_from_its_end(metrics_url: str) -> None:
    log, history = PostgresIngestLog(metrics_url), PostgresIngestHistory(metrics_url)
    archive = Archive(log, history, FakeStreamStore())
    record = archive.accept(write_result())
    archive.commit()
    assert history.forget_before(datetime.now(UTC) - timedelta(days=1), MANY) == 0
    assert log.find(record.ingest_id) is not None
    log.close()
    history.close()
