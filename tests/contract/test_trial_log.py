"""The contract of the log of layout trials, checked on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from service.adapters.postgres.maintenance.layout_trial_log import PostgresTrialLog
from service.adapters.postgres.maintenance.maintenance_log import PostgresMaintenanceLog
from service.errors.unavailable import MetricsStoreDown
from service.model.query.layout_advice import AdviceKind, ReadAmount
from service.model.query.layout_trial import (
    LayoutTrial,
    TrialReport,
    TrialRequest,
    TrialState,
    TriedAmount,
    TriedFilter,
)
from service.model.tables.tables import TableName
from tests.fakes.layout_trials import FakeTrialLog

NOBODY_THERE = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SALES = TableName("lake", "shop", "sales")
AMOUNT = TriedAmount(now=ReadAmount(9, 900), predicted=ReadAmount(2, 220), seen=ReadAmount(2, 200))
REPORT = TrialReport(
    columns=("day",),
    transform="month",
    file_bytes=None,
    scan_count=3,
    amount=AMOUNT,
    table_now=ReadAmount(9, 900),
    table_predicted=ReadAmount(11, 840),
    table_seen=ReadAmount(12, 850),
    is_size_predicted=True,
    filters=(TriedFilter(columns=("day", "city\0"), scan_count=3, amount=AMOUNT),),
)
Log = FakeTrialLog | PostgresTrialLog


@pytest.fixture(params=["fake", "postgres"])
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    if request.param == "fake":
        yield FakeTrialLog()
        return
    yield request.getfixturevalue("real_log")


@pytest.fixture
def real_log(metrics_url: str) -> Iterator[PostgresTrialLog]:
    engine = create_engine(metrics_url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE maintenance_runs"))
    engine.dispose()
    real = PostgresTrialLog(metrics_url)
    yield real
    real.close()


def a_trial(minutes: int = 0, table: TableName = SALES) -> LayoutTrial:
    return LayoutTrial(
        trial_id=uuid4(),
        request=TrialRequest(table, AdviceKind.SORT, 7),
        requested_by="ana",
        requested_at=NOON + timedelta(minutes=minutes),
    )


def ended(trial: LayoutTrial) -> LayoutTrial:
    return replace(trial, state=TrialState.SUCCEEDED, ended_at=NOON, report=REPORT, is_dropped=True)


def test_a_trial_is_kept_as_it_goes_on(log: Log) -> None:
    trial = a_trial()
    assert log.find(trial.trial_id) is None
    log.add(trial)
    assert log.find(trial.trial_id) == trial
    for state in (TrialState.REWRITING, TrialState.MEASURING):
        trial = replace(trial, state=state, snapshot_id=2**62)
        log.save(trial)
        assert log.find(trial.trial_id) == trial
    log.save(replace(ended(trial), error_code="X", error_detail="why"))
    found = log.find(trial.trial_id)
    assert found is not None
    assert found.report is not None
    assert found.report.amount == REPORT.amount
    assert found.report.difference_at_size == (223 - 200) / 200
    assert (found.state, found.error_code, found.error_detail) == (TrialState.SUCCEEDED, "X", "why")


def test_a_trial_is_open_until_its_copy_is_dropped(log: Log) -> None:
    trial = a_trial()
    log.add(trial)
    assert [found.trial_id for found in log.open()] == [trial.trial_id]
    log.save(replace(ended(trial), is_dropped=False))
    assert [found.state for found in log.open()] == [TrialState.SUCCEEDED]
    log.save(ended(trial))
    assert log.open() == []
    log.save(trial)
    found = log.find(trial.trial_id)
    assert found is not None
    assert found.state is TrialState.SUCCEEDED


def test_the_trials_of_a_table_are_listed_the_newest_first(log: Log) -> None:
    trials = [a_trial(minutes) for minutes in (2, 0, 1)]
    for trial in (*trials, a_trial(9, TableName("lake", "shop", "other"))):
        log.add(trial)
    newest = [trials[0].trial_id, trials[2].trial_id]
    assert [trial.trial_id for trial in log.latest(SALES, 2)] == newest


def test_one_that_is_open_may_be_asked_to_end(log: Log) -> None:
    trial = a_trial()
    log.add(trial)
    assert not log.is_canceled(trial.trial_id)
    log.ask_to_cancel(trial.trial_id)
    log.save(replace(trial, state=TrialState.REWRITING))
    assert log.is_canceled(trial.trial_id)
    log.ask_to_cancel(uuid4())


def test_one_is_alone_at_a_time(log: Log) -> None:
    with log.alone() as is_first:
        assert is_first
        with log.alone() as is_second:
            assert not is_second
    with log.alone() as is_third:
        assert is_third


def test_the_maintenance_of_a_version_without_trials_sees_none(
    real_log: PostgresTrialLog, metrics_url: str
) -> None:
    trial = a_trial()
    real_log.add(trial)
    maintenance = PostgresMaintenanceLog(metrics_url)
    try:
        assert maintenance.open() == []
        assert maintenance.latest(SALES, 10) == []
        found = maintenance.find(trial.trial_id)
        assert found is not None
        assert found.request.key.table != SALES
        real_log.save(ended(trial))
        assert maintenance.find(trial.trial_id) is not None
        assert maintenance.forget(NOON) == 0
        assert maintenance.forget(NOON + timedelta(seconds=1)) == 1
    finally:
        maintenance.close()
    assert real_log.find(trial.trial_id) is None


def test_a_log_that_does_not_answer_is_down() -> None:
    log = PostgresTrialLog(NOBODY_THERE)
    with pytest.raises(MetricsStoreDown):
        log.open()
    with pytest.raises(MetricsStoreDown), log.alone():
        pass
    log.close()
