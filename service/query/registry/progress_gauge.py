"""Shows how far one query is, as its caller may see it."""

from __future__ import annotations

import threading
from dataclasses import replace

from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.progress import EngineProgress, Phase, QueryProgress, ScanProgress
from service.model.tables.tables import TableName
from service.policies.shown_counts import shows_counts

MOST = 99
"""The percentage before the end."""
UNKNOWN_STAGE_TASKS = 8
"""How many tasks a stage counts at most that the plan announces, but that Spark has not cut into tasks."""
HIDDEN_STEP = 10
_NOTHING = EngineProgress()


class ProgressGauge:
    """The progress of one query: its percentage never falls. Any thread may call any method."""

    def __init__(self, access: Access) -> None:
        """`access` is that of the query's caller."""
        self._access = access
        self._lock = threading.Lock()
        self._phase = Phase.PLANNING
        self._percent = 0
        self._last = _NOTHING

    @property
    def phase(self) -> Phase:
        """The phase that the query is in."""
        return self._phase

    def enter(self, phase: Phase) -> None:
        """Begins a phase."""
        self._phase = phase

    def shown(self, found: EngineProgress | None) -> QueryProgress:
        """Returns the progress with these counters of the engine; None: the last ones."""
        with self._lock:
            if found is not None:
                self._last = found
                self._percent = max(self._percent, percent_of(found))
            return _as_seen(self._phase, self._percent, self._last, self._access)


def percent_of(progress: EngineProgress) -> int:
    """Returns the share of the known tasks that are done, 99 at most.

    A stage that the plan announces counts as one of average size, at most `UNKNOWN_STAGE_TASKS` tasks.

    >>> percent_of(EngineProgress(tasks_completed=4, tasks_total=4, stages_total=1, stages_planned=2))
    50
    >>> percent_of(EngineProgress(tasks_completed=4, tasks_total=4, stages_total=1, stages_planned=1))
    99
    """
    announced = max(0, progress.stages_planned - progress.stages_total)
    average = progress.tasks_total / max(1, progress.stages_total)
    tasks = progress.tasks_total + announced * min(average, UNKNOWN_STAGE_TASKS)
    return min(MOST, int(100 * progress.tasks_completed / tasks)) if tasks else 0


def _as_seen(phase: Phase, percent: int, found: EngineProgress, access: Access) -> QueryProgress:
    """Leaves out what would show how many rows a policy hides, and where these lie."""
    scans = tuple(_scan_as_seen(scan, access) for scan in found.scans)
    if _hides_nothing(found, access):
        return QueryProgress(phase=phase, percent=percent, counters=replace(found, scans=()), scans=scans)
    # Finer steps would count the tasks, and these the files.
    return QueryProgress(
        phase=phase, percent=percent // HIDDEN_STEP * HIDDEN_STEP, counters=None, scans=scans
    )


def _hides_nothing(found: EngineProgress, access: Access) -> bool:
    if access is FULL_ACCESS or found is _NOTHING:
        return True
    return found.is_whole and all(_is_shown(scan, access) for scan in found.scans)


def _scan_as_seen(scan: ScanProgress, access: Access) -> ScanProgress:
    return scan if access is FULL_ACCESS or _is_shown(scan, access) else ScanProgress(scan.table)


def _is_shown(scan: ScanProgress, access: Access) -> bool:
    return scan.table is not None and shows_counts(access, TableName.of(scan.table))
