"""Trials of layouts, and whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from service.model.query.layout_trial import LayoutTrial
from service.model.tables.tables import TableName


class TrialLog(Protocol):
    """Keeps trials for all replicas. All raise MetricsStoreDown if the log does not answer."""

    def alone(self) -> AbstractContextManager[bool]:
        """Yields True if no other replica runs a trial while this is open; a crash ends that, too."""

    def add(self, trial: LayoutTrial) -> None:
        """Keeps a trial that begins."""

    def save(self, trial: LayoutTrial) -> None:
        """Keeps the progress of a trial; one that has ended, and whose copy is dropped, stays as it is."""

    def find(self, trial_id: UUID) -> LayoutTrial | None:
        """Returns the trial as it is now."""

    def latest(self, table: TableName, limit: int) -> Sequence[LayoutTrial]:
        """Lists the table's newest trials, at most `limit`, the newest first."""

    def open(self) -> Sequence[LayoutTrial]:
        """Lists trials that have not ended, or left a copy, at any replica, or at one that is lost."""

    def ask_to_cancel(self, trial_id: UUID) -> None:
        """Notes that the trial should end, if it has not."""

    def is_canceled(self, trial_id: UUID) -> bool:
        """Whether any caller asked for its end."""
