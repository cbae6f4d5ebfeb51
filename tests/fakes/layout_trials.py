"""Trials in memory: a log that can be taken down, and copies that a test controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

from service.advice.advice_service import AdviceService
from service.advice.run_trial import TrialPorts
from service.advice.trial_service import TrialBounds, TrialService
from service.errors.unavailable import MetricsStoreDown
from service.model.query.layout_advice import ReadAmount
from service.model.query.layout_trial import CountedReads, LayoutTrial, TrialWork
from service.model.tables.tables import TableName
from service.ports.tables.catalogs import Catalogs
from tests.fakes.clock import FakeClock


class FakeTrialLog:
    """`is_taken`: another replica runs a trial."""

    def __init__(self) -> None:
        self.trials: dict[UUID, LayoutTrial] = {}
        self.canceled: set[UUID] = set()
        self.states: list[str] = []
        self.is_taken = False
        self.is_down = False

    @contextmanager
    def alone(self) -> Iterator[bool]:
        self._require_up()
        if self.is_taken:
            yield False
            return
        self.is_taken = True
        try:
            yield True
        finally:
            self.is_taken = False

    def add(self, trial: LayoutTrial) -> None:
        self._require_up()
        self.trials[trial.trial_id] = trial

    def save(self, trial: LayoutTrial) -> None:
        self._require_up()
        self.states.append(trial.state.value)
        if _is_open(self.trials[trial.trial_id]):
            self.trials[trial.trial_id] = replace(trial)

    def find(self, trial_id: UUID) -> LayoutTrial | None:
        self._require_up()
        return self.trials.get(trial_id)

    def latest(self, table: TableName, limit: int) -> Sequence[LayoutTrial]:
        self._require_up()
        own = [trial for trial in self.trials.values() if trial.request.table == table]
        return sorted(own, key=lambda trial: trial.requested_at, reverse=True)[:limit]

    def open(self) -> Sequence[LayoutTrial]:
        self._require_up()
        found = [trial for trial in self.trials.values() if _is_open(trial)]
        return sorted(found, key=lambda trial: trial.requested_at)

    def ask_to_cancel(self, trial_id: UUID) -> None:
        self._require_up()
        if trial_id in self.trials and _is_open(self.trials[trial_id]):
            self.canceled.add(trial_id)

    def is_canceled(self, trial_id: UUID) -> bool:
        self._require_up()
        return trial_id in self.canceled

    def _require_up(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


class FakeTrialCopies:
    """Each scan selects `now` of the table, and `seen` of the copy. `during` runs while it is rewritten."""

    def __init__(self) -> None:
        self.now = ReadAmount(4, 16_000)
        self.seen = ReadAmount(1, 500)
        self.works: list[TrialWork] = []
        self.dropped: list[UUID] = []
        self.canceled: list[UUID] = []
        self.during: Callable[[UUID], None] = lambda _: None
        self.drop_failure: Exception | None = None

    def run(self, work: TrialWork, is_rewritten: Callable[[], None]) -> tuple[CountedReads, CountedReads]:
        self.works.append(work)
        self.during(work.trial_id)
        is_rewritten()
        count = len(work.scans)
        return CountedReads(self.now, [self.now] * count), CountedReads(self.now, [self.seen] * count)

    def cancel(self, trial_id: UUID) -> None:
        self.canceled.append(trial_id)

    def drop(self, table: TableName, trial_id: UUID) -> None:  # noqa: ARG002
        if self.drop_failure is not None:
            raise self.drop_failure
        self.dropped.append(trial_id)


BOUNDS = TrialBounds(is_on=True, max_table_bytes=10**9, timeout_s=60, look_s=0.01, sweep_s=3600)
WAIT_S = 120


class FakeTrials(TrialService):
    """Trials over fakes alone. Each runs at once, in a thread: call `wait`. Nothing is swept by itself."""

    def __init__(
        self,
        advice: AdviceService,
        catalogs: Catalogs,
        clock: FakeClock,
        bounds: TrialBounds = BOUNDS,
        *,
        copies: FakeTrialCopies | None = None,
        is_writable: bool = True,
    ) -> None:
        self.log = FakeTrialLog()
        self.copies = copies or FakeTrialCopies()
        self.clock = clock
        ports = TrialPorts(advice=advice, copies=self.copies, log=self.log, catalogs=catalogs, clock=clock)
        super().__init__(ports, bounds, lambda _: is_writable)

    def wait(self) -> None:
        """Returns after the end of the trial that was begun last."""
        if self._runner is not None:
            self._runner.join(WAIT_S)
            assert not self._runner.is_alive()


def _is_open(trial: LayoutTrial) -> bool:
    return not (trial.state.is_ended and trial.is_dropped)
