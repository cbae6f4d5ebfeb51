"""The port through which the service sees running queries."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from service.model.query.progress import EngineProgress


class RunningQueries(Protocol):
    """Reports how far the queries are that the engine runs."""

    def progress(self, query_id: UUID) -> EngineProgress | None:
        """Returns the query's counters, at most about a second old while the engine answers.

        None: the engine has run nothing of it yet, or it is not known. Waits for a fraction of a second at
        most, even if the engine is stuck, and never raises.
        """


class NoRunningQueries:
    """For engines that report nothing."""

    def progress(self, query_id: UUID) -> None:  # noqa: ARG002
        """Nothing is known."""
        return
