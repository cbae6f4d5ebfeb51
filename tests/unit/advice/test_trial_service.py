"""Who has advice tried, one at a time, and what becomes of copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Event
from uuid import UUID, uuid4

import pytest

from service.advice.trial_service import TrialBounds
from service.errors.ingest_errors import WriteNotAllowed
from service.errors.policy_errors import TableAccessDenied
from service.errors.table_errors import TableNotFound
from service.errors.trial_errors import TrialFailed, TrialNotFound, TrialRunning, TrialsOff, TrialTooLarge
from service.errors.unavailable import EngineLost, ShuttingDown
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.layout_advice import AdviceKind, ReadAmount
from service.model.query.layout_trial import LayoutTrial, TrialRequest, TrialState
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import TABLE, FakeGateway
from tests.fakes.layout_trials import BOUNDS, WAIT_S, FakeTrialCopies, FakeTrials
from tests.fakes.queries import NOON
from tests.fakes.recorded_scans import record_scans

SORT = TrialRequest(TABLE, AdviceKind.SORT)


def made(
    bounds: TrialBounds = BOUNDS, *, copies: FakeTrialCopies | None = None, is_writable: bool = True
) -> FakeTrials:
    """Returns trials of a table with recorded scans."""
    gateway = FakeGateway()
    record_scans(gateway)
    catalogs = FakeCatalogs(tables=[gateway.table(TABLE)])
    advice, clock = gateway.layout_advice, FakeClock(NOON)
    return FakeTrials(advice, catalogs, clock, bounds, copies=copies, is_writable=is_writable)


def run(trials: FakeTrials, request: TrialRequest = SORT) -> LayoutTrial:
    """Returns the trial after its end."""
    trial = trials.ask(request, "ana", FULL_ACCESS)
    trials.wait()
    return trials.find(TABLE, trial.trial_id, FULL_ACCESS)


@pytest.fixture
def trials() -> Iterator[FakeTrials]:
    found = made()
    yield found
    found.close(WAIT_S)


def access(*rules: object) -> RoleAccess:
    """Returns the access of a role that may describe and read the table, with these restrictions."""
    pattern = TablePattern.parse(str(TABLE))
    grants = (Grant("r", Action.SELECT, pattern), Grant("r", Action.DESCRIBE, pattern))
    filters = tuple(rule for rule in rules if isinstance(rule, RowFilter))
    masks = tuple(rule for rule in rules if isinstance(rule, ColumnMask))
    return RoleAccess(CompiledPolicies(PolicySet(1, grants, filters, masks, ())), frozenset({"r"}))


def test_a_trial_compares_predicted_with_seen_and_drops_its_copy(trials: FakeTrials) -> None:
    trial = run(trials)
    assert (trial.state, trial.is_dropped, trial.snapshot_id) == (TrialState.SUCCEEDED, True, 7)
    assert trials.log.states == ["REWRITING", "MEASURING", "SUCCEEDED"]
    assert trials.copies.dropped == [trial.trial_id]
    report = trial.report
    assert report is not None
    [work] = trials.copies.works
    assert (work.advice.columns, report.columns, report.scan_count) == (("day",), ("day",), 2)
    assert report.amount.now == ReadAmount(8, 32_000)
    assert report.amount.predicted == work.advice.after
    assert report.amount.seen == ReadAmount(2, 1_000)
    assert report.amount.difference == (work.advice.after.byte_count - 1_000) / 1_000
    [one] = report.filters
    assert (one.columns, one.scan_count, one.amount) == (("day",), 2, report.amount)


def test_equal_scans_are_counted_once(trials: FakeTrials) -> None:
    run(trials)
    [work] = trials.copies.works
    [scan] = work.scans
    assert [predicate.column for predicate in scan] == ["day"]


def test_a_kind_without_advice_is_not_tried(trials: FakeTrials) -> None:
    trial = run(trials, TrialRequest(TABLE, AdviceKind.COMPACTION))
    assert (trial.state, trial.error_code) == (TrialState.FAILED, "ADVICE_NOT_FOUND")
    assert trials.copies.works == []


@pytest.mark.parametrize(
    ("bounds", "is_writable", "error"),
    [
        (replace(BOUNDS, is_on=False), True, TrialsOff),
        (BOUNDS, False, WriteNotAllowed),
        (replace(BOUNDS, max_table_bytes=1), True, TrialTooLarge),
    ],
    ids=["off", "not-writable", "too-large"],
)
def test_what_the_operator_does_not_want_is_refused(
    bounds: TrialBounds, is_writable: bool, error: type[Exception]
) -> None:
    trials = made(bounds, is_writable=is_writable)
    with pytest.raises(error):
        trials.ask(SORT, "ana", FULL_ACCESS)
    assert trials.log.trials == {}


def test_a_missing_table_is_refused(trials: FakeTrials) -> None:
    with pytest.raises(TableNotFound):
        trials.ask(replace(SORT, table=replace(TABLE, table="gone")), "ana", FULL_ACCESS)


def test_who_does_not_see_every_row_learns_nothing(trials: FakeTrials) -> None:
    trial = run(trials)
    part = access(RowFilter("r", TablePattern.parse(str(TABLE)), "id = 1"))
    for ask in (
        lambda: trials.ask(SORT, "bob", part),
        lambda: trials.find(TABLE, trial.trial_id, part),
        lambda: trials.latest(TABLE, part),
        lambda: trials.cancel(TABLE, trial.trial_id, part),
    ):
        with pytest.raises(TableAccessDenied):
            ask()


def test_masked_columns_are_not_shown(trials: FakeTrials) -> None:
    trial = run(trials)
    masked = access(ColumnMask("r", TablePattern.parse(str(TABLE)), "day", "NULL"))
    assert trials.find(TABLE, trial.trial_id, masked).report is None
    assert [shown.report for shown in trials.latest(TABLE, masked)] == [None]


def test_one_trial_runs_at_a_time(trials: FakeTrials) -> None:
    may_go_on, has_begun = Event(), Event()

    def during(_: UUID) -> None:
        has_begun.set()
        assert may_go_on.wait(WAIT_S)

    trials.copies.during = during
    first = trials.ask(SORT, "ana", FULL_ACCESS)
    assert has_begun.wait(WAIT_S)
    with pytest.raises(TrialRunning):
        trials.ask(SORT, "ana", FULL_ACCESS)
    trials.sweep()
    assert trials.copies.dropped == []
    may_go_on.set()
    trials.wait()
    trials.copies.during = lambda _: None
    assert run(trials).state is TrialState.SUCCEEDED
    assert [trial.request for trial in trials.latest(TABLE, FULL_ACCESS)] == [SORT, SORT]
    assert trials.copies.dropped[0] == first.trial_id


class UntilCanceled(FakeTrialCopies):
    """Works until it is canceled, and fails then, as the engine does."""

    def __init__(self) -> None:
        super().__init__()
        self._is_canceled = Event()
        self.during = self._wait

    def cancel(self, trial_id: UUID) -> None:
        super().cancel(trial_id)
        self._is_canceled.set()

    def _wait(self, trial_id: UUID) -> None:  # noqa: ARG002
        assert self._is_canceled.wait(WAIT_S)
        raise TrialFailed("Job 7 was canceled.")


def test_a_trial_that_is_canceled_ends_and_drops_its_copy() -> None:
    trials = made(copies=UntilCanceled())
    trial = trials.ask(SORT, "ana", FULL_ACCESS)
    trials.cancel(TABLE, trial.trial_id, FULL_ACCESS)
    trials.wait()
    found = trials.find(TABLE, trial.trial_id, FULL_ACCESS)
    assert (found.state, found.error_code, found.is_dropped) == (
        TrialState.CANCELED,
        "TRIAL_CANCELED",
        True,
    )
    assert trials.copies.dropped == [trial.trial_id]


def test_a_trial_that_takes_too_long_ends() -> None:
    trials = made(replace(BOUNDS, timeout_s=0), copies=UntilCanceled())
    found = run(trials)
    assert (found.state, found.error_code) == (TrialState.FAILED, "TRIAL_FAILED")
    assert "layout_trials_timeout_s" in (found.error_detail or "")


def test_a_gateway_that_stops_ends_its_trial() -> None:
    trials = made(copies=UntilCanceled())
    trial = trials.ask(SORT, "ana", FULL_ACCESS)
    trials.stop_taking()
    with pytest.raises(ShuttingDown):
        trials.ask(SORT, "ana", FULL_ACCESS)
    trials.close(WAIT_S)
    assert trials.find(TABLE, trial.trial_id, FULL_ACCESS).state is TrialState.CANCELED


def lost_trial(hours: int = 0) -> LayoutTrial:
    """Returns a trial whose gateway is lost."""
    requested_at = NOON - timedelta(hours=hours)
    return LayoutTrial(trial_id=uuid4(), request=SORT, requested_by="ana", requested_at=requested_at)


def test_what_a_lost_gateway_left_is_dropped(trials: FakeTrials) -> None:
    lost = lost_trial()
    trials.log.add(lost)
    trials.log.is_taken = True
    trials.sweep()
    assert trials.copies.dropped == []
    trials.log.is_taken = False
    trials.sweep()
    assert trials.copies.dropped == [lost.trial_id]
    found = trials.find(TABLE, lost.trial_id, FULL_ACCESS)
    assert (found.state, found.error_detail) == (TrialState.FAILED, "The gateway that ran it was lost.")


def test_what_the_engine_of_a_lost_gateway_wrote_afterwards_is_dropped_too(trials: FakeTrials) -> None:
    lost = lost_trial()
    trials.log.add(lost)
    trials.sweep()
    ended_at = trials.find(TABLE, lost.trial_id, FULL_ACCESS).ended_at
    trials.clock.advance(timedelta(seconds=BOUNDS.settle_s / 2))
    trials.sweep()
    assert not trials.find(TABLE, lost.trial_id, FULL_ACCESS).is_dropped
    trials.clock.advance(timedelta(seconds=BOUNDS.settle_s / 2))
    trials.sweep()
    found = trials.find(TABLE, lost.trial_id, FULL_ACCESS)
    assert (found.state, found.is_dropped, found.ended_at) == (TrialState.FAILED, True, ended_at)
    assert trials.copies.dropped == [lost.trial_id] * 3
    trials.sweep()
    assert trials.copies.dropped == [lost.trial_id] * 3


def test_a_new_trial_drops_what_a_lost_gateway_left(trials: FakeTrials) -> None:
    lost = lost_trial(hours=1)
    trials.log.add(lost)
    trial = run(trials)
    assert trials.copies.dropped == [lost.trial_id, trial.trial_id]
    assert [trial.trial_id for trial in trials.log.open()] == [lost.trial_id]


def test_a_copy_that_cannot_be_dropped_now_is_dropped_later(trials: FakeTrials) -> None:
    trials.copies.drop_failure = EngineLost()
    trial = run(trials)
    assert (trial.state, trial.is_dropped) == (TrialState.SUCCEEDED, False)
    trials.copies.drop_failure = None
    trials.clock.advance(timedelta(seconds=BOUNDS.settle_s))
    trials.sweep()
    found = trials.find(TABLE, trial.trial_id, FULL_ACCESS)
    assert (found.state, found.is_dropped, found.report) == (TrialState.SUCCEEDED, True, trial.report)


def test_a_copy_of_a_table_that_is_gone_is_gone(trials: FakeTrials) -> None:
    trials.copies.drop_failure = TableNotFound(str(TABLE))
    assert run(trials).is_dropped


def test_a_trial_that_crashes_is_reported(trials: FakeTrials) -> None:
    def crash(_: UUID) -> None:
        raise RuntimeError("secret")

    trials.copies.during = crash
    trial = run(trials)
    assert (trial.state, trial.is_dropped) == (TrialState.FAILED, True)
    assert "secret" not in (trial.error_detail or "")


def test_an_unknown_trial_is_not_found(trials: FakeTrials) -> None:
    trial = run(trials)
    with pytest.raises(TrialNotFound):
        trials.find(TABLE, uuid4(), FULL_ACCESS)
    with pytest.raises(TrialNotFound):
        trials.find(replace(TABLE, table="other"), trial.trial_id, FULL_ACCESS)
