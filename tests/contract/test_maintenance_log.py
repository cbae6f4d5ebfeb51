"""The contract of maintenance logs, checked on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.adapters.postgres.maintenance.maintenance_log import PostgresMaintenanceLog
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.writing import CommitResult, TableKey
from service.model.operations.maintenance import (
    Gathered,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
    OperationResult,
)
from tests.fakes.ingests import ACCEPTED_AT, LOGS, ORDERS, ingest_of, write_result
from tests.fakes.maintenance import BOUNDS, FakeMaintenanceLog

COMPACT, EXPIRE, ORPHANS = MaintenanceOperation
NOBODY_THERE = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"
HOUR = timedelta(hours=1)
Log = FakeMaintenanceLog | PostgresMaintenanceLog


@pytest.fixture(params=["fake", "postgres"])
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    if request.param == "fake":
        yield FakeMaintenanceLog()
        return
    yield request.getfixturevalue("real_log")


@pytest.fixture
def real_log(metrics_url: str) -> Iterator[PostgresMaintenanceLog]:
    empty(metrics_url)
    real = PostgresMaintenanceLog(metrics_url)
    yield real
    real.close()


@pytest.fixture
def ingests(metrics_url: str) -> Iterator[PostgresIngestLog]:
    real = PostgresIngestLog(metrics_url)
    yield real
    real.close()


def empty(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE ingests, commit_rounds, maintenance_runs CASCADE"))
    engine.dispose()


def record_of(key: TableKey = LOGS, minutes: int = 0, *operations: MaintenanceOperation) -> MaintenanceRecord:
    request = MaintenanceRequest(key, operations or (COMPACT,), BOUNDS)
    return MaintenanceRecord(uuid4(), request, "ann", ACCEPTED_AT + timedelta(minutes=minutes))


def ended(record: MaintenanceRecord) -> MaintenanceRecord:
    return replace(record, state=MaintenanceState.SUCCEEDED, ended_at=ACCEPTED_AT + HOUR)


def test_what_is_added_is_found_as_it_is(log: Log) -> None:
    record = record_of(ORDERS, 0, EXPIRE, COMPACT)
    assert log.add(record) == record
    assert log.find(record.maintenance_id) == record
    assert log.find(uuid4()) is None
    further = replace(
        record,
        state=MaintenanceState.FAILED,
        attempts=2,
        started_at=ACCEPTED_AT,
        ended_at=ACCEPTED_AT + HOUR,
        results=(OperationResult(COMPACT, {"rewrittenDataFiles": 7, "removedDeleteFiles": 0}, 1234),),
        error_code="MAINTENANCE_FAILED",
        error_detail="no room",
    )
    log.save(further)
    assert log.find(record.maintenance_id) == further


def test_a_table_has_one_that_has_not_ended(log: Log) -> None:
    first, second = record_of(), record_of(minutes=1)
    log.add(first)
    assert log.add(second) == first
    assert log.add(record_of(replace(LOGS, branch="audit"))) == first
    other = record_of(ORDERS)
    assert log.add(other) == other
    log.save(ended(first))
    assert log.add(second) == second
    assert log.find(first.maintenance_id) == ended(first)


def test_the_open_ones_are_reported_oldest_first_and_a_tables_newest_first(log: Log) -> None:
    first, other, second = record_of(), record_of(ORDERS, 1), record_of(minutes=2)
    log.add(first)
    log.save(ended(first))
    log.add(second)
    log.add(other)
    assert list(log.open()) == [other, second]
    assert list(log.latest(LOGS.table, 10)) == [second, ended(first)]
    assert list(log.latest(LOGS.table, 1)) == [second]


def test_what_has_ended_is_forgotten_after_a_while(log: Log) -> None:
    old, young = record_of(), record_of(ORDERS)
    for record in (old, young):
        log.add(record)
    log.save(ended(old))
    assert log.forget(ACCEPTED_AT + HOUR) == 0
    assert log.forget(ACCEPTED_AT + 2 * HOUR) == 1
    assert log.find(old.maintenance_id) is None
    assert log.find(young.maintenance_id) == young


def test_one_at_a_time_is_alone_with_a_table(real_log: PostgresMaintenanceLog, metrics_url: str) -> None:
    there = PostgresMaintenanceLog(metrics_url)
    with (
        real_log.alone(LOGS.table) as here_alone,
        there.alone(LOGS.table) as there_alone,
        there.alone(ORDERS.table) as with_another,
    ):
        assert (here_alone, there_alone, with_another) == (True, False, True)
    with there.alone(LOGS.table) as there_alone:
        assert there_alone
    there.close()


def test_upserts_are_due_until_they_are_compacted(
    real_log: PostgresMaintenanceLog, ingests: PostgresIngestLog
) -> None:
    for result in (write_result(is_upsert=True), write_result(ORDERS)):
        ingests.accept(ingest_of([result]), [result])
    soon = datetime.now(UTC) + HOUR
    assert list(real_log.due(soon)) == []
    for key in (LOGS, ORDERS):
        with ingests.round(key, 100) as pending:
            assert pending is not None
            pending.committed(CommitResult(key, 7, 1, 1, 1))
    assert list(real_log.due(soon)) == [LOGS]
    assert list(real_log.due(datetime.now(UTC) - HOUR)) == []

    expired = replace(record_of(LOGS, 0, EXPIRE), requested_at=soon + HOUR, started_at=soon + HOUR)
    real_log.add(expired)
    real_log.save(ended(expired))
    assert list(real_log.due(soon)) == [LOGS]
    failed = record_of()
    real_log.add(failed)
    real_log.save(replace(ended(failed), state=MaintenanceState.FAILED, started_at=soon))
    assert list(real_log.due(soon)) == [LOGS]
    tried = replace(record_of(), requested_at=soon + HOUR)
    real_log.add(tried)
    assert list(real_log.due(soon)) == []
    real_log.save(replace(ended(tried), started_at=soon))
    assert list(real_log.due(soon + 2 * HOUR)) == []


def test_files_gather_until_they_are_compacted(
    real_log: PostgresMaintenanceLog, ingests: PostgresIngestLog
) -> None:
    soon = datetime.now(UTC) + HOUR
    for key in (LOGS, LOGS, ORDERS):
        result = write_result(key)
        ingests.accept(ingest_of([result]), [result])
        assert list(real_log.gathered(Gathered(COMPACT, soon, 3))) == []
        with ingests.round(key, 100) as pending:
            assert pending is not None
            pending.committed(CommitResult(key, 7, 1, 1, 1))
    files = len(write_result().data_files) * 2
    assert list(real_log.gathered(Gathered(COMPACT, soon, files))) == [LOGS]
    assert list(real_log.gathered(Gathered(COMPACT, soon))) == [LOGS, ORDERS]
    assert list(real_log.gathered(Gathered(COMPACT, soon, files + 1))) == []
    assert list(real_log.gathered(Gathered(COMPACT, datetime.now(UTC) - HOUR))) == []

    failed = record_of()
    real_log.add(failed)
    real_log.save(replace(ended(failed), state=MaintenanceState.FAILED, started_at=soon))
    assert list(real_log.gathered(Gathered(COMPACT, soon))) == [LOGS, ORDERS]
    tried = replace(record_of(), requested_at=soon + HOUR)
    real_log.add(tried)
    assert list(real_log.gathered(Gathered(COMPACT, soon))) == [ORDERS]
    assert list(real_log.gathered(Gathered(EXPIRE, soon))) == [LOGS, ORDERS]
    real_log.save(replace(ended(tried), started_at=soon))
    assert list(real_log.gathered(Gathered(COMPACT, soon + 2 * HOUR))) == [ORDERS]


def test_the_oldest_that_waits_for_a_table_is_known_whatever_its_branch(
    real_log: PostgresMaintenanceLog, ingests: PostgresIngestLog
) -> None:
    assert real_log.oldest(LOGS.table) is None
    branch = replace(LOGS, branch="audit")
    results = [write_result(), write_result(branch), write_result(ORDERS)]
    records = [ingest_of([result]) for result in results]
    for days, (record, result) in enumerate(zip(records, results, strict=True)):
        ingests.accept(replace(record, accepted_at=ACCEPTED_AT - timedelta(days=days)), [result])
    assert real_log.oldest(LOGS.table) == ACCEPTED_AT - timedelta(days=1)
    with ingests.round(branch, 100) as pending:
        assert pending is not None
        pending.refused("TABLE_CHANGED", "other spec")
    assert real_log.oldest(LOGS.table) == ACCEPTED_AT
    with ingests.round(LOGS, 100) as pending:
        assert pending is not None
        assert real_log.oldest(LOGS.table) == ACCEPTED_AT
        pending.committed(CommitResult(LOGS, 7, 1, 1, 1))
    assert real_log.oldest(LOGS.table) is None


QUESTIONS: list[Callable[[Log], object]] = [
    lambda log: log.add(record_of()),
    lambda log: log.save(record_of()),
    lambda log: log.find(uuid4()),
    lambda log: log.forget(ACCEPTED_AT),
    lambda log: log.latest(LOGS.table, 1),
    lambda log: log.open(),
    lambda log: log.alone(LOGS.table).__enter__(),
    lambda log: log.due(ACCEPTED_AT),
    lambda log: log.gathered(Gathered(COMPACT, ACCEPTED_AT)),
    lambda log: log.oldest(LOGS.table),
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", ["fake", "postgres"])
def test_a_log_that_is_down_says_so(kind: str, question: Callable[[Log], object]) -> None:
    log: Log = FakeMaintenanceLog()
    if isinstance(log, FakeMaintenanceLog):
        log.is_down = True
    if kind == "postgres":
        log = PostgresMaintenanceLog(NOBODY_THERE)
    with pytest.raises(MetricsStoreDown):
        question(log)
