"""Trials of advice, one at a time among all replicas."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import UUID, uuid4

import structlog

from service.advice.advice_service import check_sees_every_row, masked_columns
from service.advice.run_trial import TrialPorts, check_size, drop_trial, failed_trial, run_trial
from service.advice.trial_report import shown_trial
from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import WriteNotAllowed
from service.errors.trial_errors import TrialCanceled, TrialFailed, TrialNotFound, TrialRunning, TrialsOff
from service.errors.unavailable import ShuttingDown
from service.model.policies.decisions import Access
from service.model.query.layout_trial import LayoutTrial, TrialRequest
from service.model.tables.tables import TableName
from service.periodic_worker import PeriodicWorker

log = structlog.get_logger(__name__)

LISTED_AT_MOST = 50
SWEEP_S = 60.0
LOOK_S = 1.0
SETTLE_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialBounds:
    """Whether tables may be tried, how large one is at most, and how long a trial takes at most.

    `settle_s` is how long the engine of a lost gateway may go on writing.
    """

    is_on: bool
    max_table_bytes: int
    timeout_s: float
    look_s: float = LOOK_S
    sweep_s: float = SWEEP_S
    settle_s: float = SETTLE_S


class TrialService:
    """Takes trials and runs them. Any thread may call any method."""

    def __init__(
        self, ports: TrialPorts, bounds: TrialBounds, is_writable: Callable[[TableName], bool]
    ) -> None:
        self._ports = ports
        self._bounds = bounds
        self._is_writable = is_writable
        self._is_ending = threading.Event()
        self._runner: threading.Thread | None = None
        self._sweeper = PeriodicWorker("layout-trials", self.sweep, bounds.sweep_s)

    def start(self) -> None:
        """Begins to drop what lost gateways have left."""
        self._sweeper.start()

    def ask(self, request: TrialRequest, caller: str, access: Access) -> LayoutTrial:
        """Begins a trial, and returns it at once.

        Raises:
            TrialsOff: the operator has not enabled them.
            ShuttingDown: the gateway accepts nothing more.
            TableAccessDenied: the principal does not see every row of the table.
            WriteNotAllowed: callers may not write to this table.
            TableNotFound, CatalogDown: there is no such table now.
            TrialTooLarge: it has more bytes than a trial may copy.
            TrialRunning: another one runs, at any replica.
            MetricsStoreDown: the log does not answer.
        """
        if not self._bounds.is_on:
            raise TrialsOff
        if self._is_ending.is_set():
            raise ShuttingDown
        check_sees_every_row(request.table, access)
        if not self._is_writable(request.table):
            raise WriteNotAllowed(f"Callers may not write to {request.table} here.")
        facts = self._ports.catalogs.facts(request.table)
        check_size(request.table, facts.total_bytes, self._bounds.max_table_bytes)
        with ExitStack() as stack:
            if not stack.enter_context(self._ports.log.alone()):
                raise TrialRunning
            trial = LayoutTrial(
                trial_id=uuid4(),
                request=request,
                requested_by=caller,
                requested_at=self._ports.clock.now(),
            )
            self._ports.log.add(trial)
            turn = stack.pop_all()
        runner = threading.Thread(
            target=self._run, args=(trial, access, turn), name="layout-trial", daemon=True
        )
        runner.start()
        self._runner = runner
        return trial

    def find(self, table: TableName, trial_id: UUID, access: Access) -> LayoutTrial:
        """Returns the trial as it is now, without columns that are masked for the principal.

        Raises:
            TableAccessDenied: the principal does not see every row of the table.
            TrialNotFound: the table has none with this id.
            MetricsStoreDown: the log does not answer.
        """
        check_sees_every_row(table, access)
        found = self._ports.log.find(trial_id)
        if found is None or found.request.table != table:
            raise TrialNotFound
        return shown_trial(found, masked_columns(table, access))

    def latest(self, table: TableName, access: Access) -> Sequence[LayoutTrial]:
        """Lists the table's newest trials, the newest first, without columns that are masked.

        Raises:
            TableAccessDenied: the principal does not see every row of the table.
            MetricsStoreDown: the log does not answer.
        """
        check_sees_every_row(table, access)
        is_masked = masked_columns(table, access)
        return [shown_trial(trial, is_masked) for trial in self._ports.log.latest(table, LISTED_AT_MOST)]

    def is_allowed(self, table: TableName) -> bool:
        """Whether the operator lets callers try layouts of the table. Policies may still refuse a caller."""
        return self._bounds.is_on and self._is_writable(table)

    def cancel(self, table: TableName, trial_id: UUID, access: Access) -> LayoutTrial:
        """Asks the replica that runs the trial to end it, and returns it as it is now.

        Raises:
            TableAccessDenied: the principal does not see every row of the table.
            TrialNotFound: the table has none with this id.
            MetricsStoreDown: the log does not answer.
        """
        found = self.find(table, trial_id, access)
        if not found.state.is_ended:
            self._ports.log.ask_to_cancel(trial_id)
        return found

    def sweep(self) -> None:
        """Drops the copies that lost gateways have left, unless a trial runs somewhere.

        Raises:
            PartDown: a part does not answer; it is tried again.
        """
        if not self._ports.log.open():
            return
        with self._ports.log.alone() as is_alone:
            if is_alone:
                self._drop_others(None)

    def stop_taking(self) -> None:
        """Accepts nothing more, and ends a trial that runs."""
        self._is_ending.set()

    def close(self, within_s: float) -> None:
        """Waits at most so long for a trial that ends. Any replica drops later whatever it leaves."""
        self._is_ending.set()
        self._sweeper.close()
        runner = self._runner
        if runner is not None:
            runner.join(within_s)

    def _drop_others(self, own: UUID | None) -> None:
        """Drops what is left of other trials; only one that holds the turn may call it."""
        for trial in self._ports.log.open():
            if trial.trial_id == own:
                continue
            if not trial.state.is_ended:
                trial = failed_trial(
                    trial, TrialFailed("The gateway that ran it was lost."), self._ports.clock
                )
            # The engine of a lost gateway ends a moment after it, and may leave files until then.
            dropped = drop_trial(trial, self._ports, is_last=self._is_settled(trial))
            log.info("trial_swept", trial_id=str(trial.trial_id), is_dropped=dropped.is_dropped)

    def _is_settled(self, trial: LayoutTrial) -> bool:
        ended_at = trial.ended_at
        if ended_at is None:
            return False
        return (self._ports.clock.now() - ended_at).total_seconds() >= self._bounds.settle_s

    def _run(self, trial: LayoutTrial, access: Access, turn: ExitStack) -> None:
        with turn:
            ending = _Ending(trial, self._ports, self._bounds, self._is_ending.is_set)
            watch = PeriodicWorker("layout-trial-watch", ending.look, self._bounds.look_s)
            watch.start()
            try:
                self._drop_others(trial.trial_id)
                ended = run_trial(
                    trial, access, self._ports, self._bounds.max_table_bytes, lambda: ending.reason
                )
                log.info(
                    "trial_done",
                    trial_id=str(trial.trial_id),
                    table=str(trial.request.table),
                    state=ended.state.value,
                    reason=ended.error_detail,
                )
            except GatewayError as failure:
                log.warning("trial_not_recorded", trial_id=str(trial.trial_id), reason=failure.detail)
            except Exception as failure:  # the outermost edge of a thread
                log.exception("trial_crashed", trial_id=str(trial.trial_id))
                self._give_up(trial, failure)
            finally:
                watch.close()

    def _give_up(self, trial: LayoutTrial, failure: Exception) -> None:
        detail = f"The trial met an unexpected error ({type(failure).__name__}); the log has it."
        try:
            drop_trial(failed_trial(trial, TrialFailed(detail), self._ports.clock), self._ports)
        except GatewayError as down:
            log.warning("trial_not_recorded", trial_id=str(trial.trial_id), reason=down.detail)


class _Ending:
    """Looks whether a trial should end early, and ends its work if so."""

    def __init__(
        self, trial: LayoutTrial, ports: TrialPorts, bounds: TrialBounds, is_closing: Callable[[], bool]
    ) -> None:
        self._trial_id = trial.trial_id
        self._ports = ports
        self._is_closing = is_closing
        self._timeout_s = bounds.timeout_s
        self._until_ms = ports.clock.elapsed_ms() + bounds.timeout_s * 1000
        self.reason: GatewayError | None = None

    def look(self) -> None:
        """Looks once. Work that began after the last look is ended by the next one."""
        if self.reason is None:
            self.reason = self._found()
        if self.reason is not None:
            self._ports.copies.cancel(self._trial_id)

    def _found(self) -> GatewayError | None:
        if self._is_closing():
            return TrialCanceled("The gateway was stopped.")
        if self._ports.clock.elapsed_ms() >= self._until_ms:
            return TrialFailed(
                f"It took longer than {self._timeout_s:g} s, as layout_trials_timeout_s allows."
            )
        return TrialCanceled() if self._ports.log.is_canceled(self._trial_id) else None
