"""Calls of maintenance by SQL."""

from __future__ import annotations

from typing import Protocol

from service.model.writes.writes import WriteRecord


class MaintenanceCalls(Protocol):
    """Takes the calls of statements, each under the id of its query, so that none is taken twice."""

    def take(self, record: WriteRecord) -> None:
        """Takes the call of this write; it runs when its turn comes. One that was taken is not taken again.

        Raises:
            CallerError: the table may not be maintained so, or is being maintained.
            PartDown: it cannot be taken now. After MetricsStoreDown, nobody knows whether it was.
        """

    def has_taken(self, record: WriteRecord) -> bool:
        """Whether the call of this write was taken.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
