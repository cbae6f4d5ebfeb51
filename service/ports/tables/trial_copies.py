"""Copies of tables in which another layout is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from service.model.query.layout_trial import CountedReads, TrialWork
from service.model.tables.tables import TableName


class TrialCopies(Protocol):
    """Makes copies that only it can read. The tables themselves, and their files, stay as they are."""

    def run(self, work: TrialWork, is_rewritten: Callable[[], None]) -> tuple[CountedReads, CountedReads]:
        """Returns what the scans select of the table, and of a copy with the advised layout.

        It calls `is_rewritten` between the two. Whatever happens, `drop` has to be called after it.

        Raises:
            TrialFailed: the copy cannot be made, or was canceled.
            TableNotFound: no table has this name.
            PartDown: a part does not answer.
        """

    def cancel(self, trial_id: UUID) -> None:
        """Ends the work of this trial, soon; nothing happens if there is none."""

    def drop(self, table: TableName, trial_id: UUID) -> None:
        """Deletes what is left of a trial's copy, if anything is.

        Raises:
            TrialFailed: it cannot be deleted.
            TableNotFound: no table has this name.
            PartDown: a part does not answer.
        """
