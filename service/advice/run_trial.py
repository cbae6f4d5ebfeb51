"""Runs one trial: finds the advice, changes a copy as advised, and counts the recorded scans on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.advice.advice_service import AdviceService
from service.advice.advise import advise, is_explained
from service.advice.coded_layout import coded_layout
from service.advice.predicted_reads import PredictedReads, predicted_reads
from service.advice.trial_report import EqualScans, equal_scans, trial_report
from service.errors.gateway_error import GatewayError
from service.errors.table_errors import TableNotFound
from service.errors.trial_errors import AdviceNotFound, TrialCanceled, TrialTooLarge
from service.model.policies.decisions import Access
from service.model.query.layout_advice import LayoutAdvice
from service.model.query.layout_trial import LayoutTrial, TrialRequest, TrialState, TrialWork
from service.model.tables.tables import TableName
from service.ports.clock import Clock
from service.ports.stores.trial_log import TrialLog
from service.ports.tables.catalogs import Catalogs
from service.ports.tables.trial_copies import TrialCopies

ADVICE_WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPorts:
    """The ports and clocks of trials. `clock` is the one that all replicas share."""

    advice: AdviceService
    copies: TrialCopies
    log: TrialLog
    catalogs: Catalogs
    clock: Clock


@dataclass(frozen=True, slots=True)
class _Advised:
    """The advice to try, and what it predicts for these scans."""

    snapshot_id: int
    advice: LayoutAdvice
    scans: Sequence[EqualScans]
    predicted: PredictedReads


def run_trial(
    trial: LayoutTrial,
    access: Access,
    ports: TrialPorts,
    max_table_bytes: int,
    ended_by: Callable[[], GatewayError | None],
) -> LayoutTrial:
    """Runs the trial to its end, drops its copy, and records both. `ended_by` says why it should end early.

    Raises:
        MetricsStoreDown: the end was not recorded. `drop_trial` records it later.
    """
    try:
        trial = _tried(trial, access, ports, max_table_bytes, ended_by)
    except GatewayError as failure:
        trial = failed_trial(trial, ended_by() or failure, ports.clock)
    return drop_trial(trial, ports)


def drop_trial(trial: LayoutTrial, ports: TrialPorts, *, is_last: bool = True) -> LayoutTrial:
    """Drops the copy of a trial that has ended, and records it. If the copy stays, the trial stays open.

    It also stays open unless this `is_last`: then something may still write to the copy.

    Raises:
        MetricsStoreDown: nothing was recorded.
    """
    try:
        ports.copies.drop(trial.request.table, trial.trial_id)
        trial = replace(trial, is_dropped=is_last)
    except TableNotFound:
        # Its folder went with the table, or nobody can find it any more.
        trial = replace(trial, is_dropped=True)
    except GatewayError:
        # Tried again, by any replica, until it succeeds.
        pass
    ports.log.save(trial)
    return trial


def check_size(table: TableName, byte_count: int, max_table_bytes: int) -> None:
    """Checks that the table may be copied.

    Raises:
        TrialTooLarge: it has too many bytes.
    """
    if byte_count > max_table_bytes:
        raise TrialTooLarge(f"{table} has {byte_count} bytes: layout_trials_max_table_bytes allows fewer.")


def failed_trial(trial: LayoutTrial, failure: GatewayError, clock: Clock) -> LayoutTrial:
    """Returns the trial as it ends with this error."""
    is_canceled = isinstance(failure, TrialCanceled)
    return replace(
        trial,
        state=TrialState.CANCELED if is_canceled else TrialState.FAILED,
        ended_at=clock.now(),
        error_code=failure.code,
        error_detail=failure.detail,
    )


def _tried(
    trial: LayoutTrial,
    access: Access,
    ports: TrialPorts,
    max_table_bytes: int,
    ended_by: Callable[[], GatewayError | None],
) -> LayoutTrial:
    advised = _advised(trial.request, access, ports, max_table_bytes)
    trial = replace(trial, state=TrialState.REWRITING, snapshot_id=advised.snapshot_id)
    _check(ended_by)
    ports.log.save(trial)
    work = TrialWork(
        trial_id=trial.trial_id,
        table=trial.request.table,
        snapshot_id=advised.snapshot_id,
        advice=advised.advice,
        scans=[one.predicates for one in advised.scans],
    )

    def is_rewritten() -> None:
        _check(ended_by)
        ports.log.save(replace(trial, state=TrialState.MEASURING))

    now, seen = ports.copies.run(work, is_rewritten)
    report = trial_report(advised.advice, advised.scans, advised.predicted, now, seen)
    return replace(trial, state=TrialState.SUCCEEDED, ended_at=ports.clock.now(), report=report)


def _advised(request: TrialRequest, access: Access, ports: TrialPorts, max_table_bytes: int) -> _Advised:
    """Returns the advice alone: the rows that it was found from need not stay in memory."""
    basis = ports.advice.basis(request.table, access, request.days, ADVICE_WAIT_S)
    layout = basis.layout
    found = advise(layout, basis.scans, basis.since, ports.advice.options, basis.is_late, basis.rewritten)
    advice = next((advice for advice in found.advice if advice.kind is request.kind), None)
    if advice is None or found.snapshot_id is None:
        raise AdviceNotFound
    check_size(request.table, layout.byte_count, max_table_bytes)
    explained = [scan for scan in basis.scans if is_explained(scan, layout)]
    # As long as the advice took to be found, which was in time.
    coded = coded_layout(layout, explained, lambda: False, basis.rewritten)
    scans = equal_scans(explained, coded.scan_numbers)
    return _Advised(found.snapshot_id, advice, scans, predicted_reads(coded, advice))


def _check(ended_by: Callable[[], GatewayError | None]) -> None:
    reason = ended_by()
    if reason is not None:
        raise reason
