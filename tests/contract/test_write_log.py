"""Checks the promises of a log of writes on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import create_engine, text

from service.adapters.sql_writes.postgres_write_log import PostgresWriteLog
from service.errors.unavailable import MetricsStoreDown
from service.model.tables.tables import TableName
from service.model.writes.writes import Write, WriteKind, WriteOutcome, WriteRecord, WriteState
from service.ports.stores.write_log import WriteLog
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.write_log import FakeWriteLog

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COMMITTED = WriteOutcome(WriteState.COMMITTED, 2**62, 7)


@pytest.fixture(params=["fake", "postgres"])
def log(request: pytest.FixtureRequest) -> Iterator[WriteLog]:
    if request.param == "fake":
        yield FakeWriteLog()
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE sql_writes"))
    engine.dispose()
    with closing(PostgresWriteLog(url)) as opened:
        yield opened


def begun(request_id: UUID | None = None, caller: str = "ana") -> WriteRecord:
    write = Write(WriteKind.MERGE, TableName("lake", "shop.ü", "o'rders"))
    return WriteRecord(
        query_id=uuid4(),
        caller=caller,
        write=write,
        started_at=STARTED,
        ends_by=STARTED + timedelta(minutes=5),
        request_id=request_id,
        fingerprint="f",
    )


def test_a_write_is_found_as_it_was_begun(log: WriteLog) -> None:
    record = begun(uuid4())
    assert record.request_id is not None
    assert log.begin(record) == record
    assert log.find(record.query_id) == record == log.find_request("ana", record.request_id)
    assert log.find(uuid4()) is None
    assert log.find_request("bo", record.request_id) is None


def test_one_request_is_begun_once(log: WriteLog) -> None:
    request_id = uuid4()
    with ThreadPoolExecutor(8) as threads:
        kept = set(threads.map(lambda _: log.begin(begun(request_id)).query_id, range(16)))
    assert len(kept) == 1
    assert log.begin(begun(request_id, caller="bo")).caller == "bo"


def test_writes_without_a_request_id_are_all_begun(log: WriteLog) -> None:
    first, second = begun(), begun()
    assert (log.begin(first), log.begin(second)) == (first, second)
    # The same query is begun again after it had to wait: nothing of it had run.
    assert log.begin(first) == first


def test_the_first_final_state_stays(log: WriteLog) -> None:
    record = log.begin(begun())
    log.end(record.query_id, WriteOutcome(WriteState.UNKNOWN), "ENGINE_LOST", "It was lost.")
    unknown = log.find(record.query_id)
    assert unknown is not None
    assert (unknown.state, unknown.error_code) == (WriteState.UNKNOWN, "ENGINE_LOST")
    log.end(record.query_id, COMMITTED, None, None)
    log.end(record.query_id, WriteOutcome(WriteState.NOT_COMMITTED), "X", "y")
    assert log.find(record.query_id) == replace(record, outcome=COMMITTED)


def test_old_writes_are_forgotten(log: WriteLog) -> None:
    record = log.begin(begun())
    assert log.forget_before(STARTED) == 0
    assert log.forget_before(STARTED + timedelta(seconds=1)) == 1
    assert log.find(record.query_id) is None


def test_a_log_that_does_not_answer_says_so() -> None:
    with closing(PostgresWriteLog(NOBODY_THERE)) as log, pytest.raises(MetricsStoreDown):
        log.begin(begun())
    fake = FakeWriteLog()
    fake.is_down = True
    with pytest.raises(MetricsStoreDown):
        fake.begin(begun())
