"""Commits that others in this process learn about at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.model.ingest.writing import CommitResult, Committable
from service.model.tables.tables import TableName
from service.ports.tables.table_changes import TableCommits, always_open


@dataclass(frozen=True, slots=True)
class AnnouncedCommits:
    """Implements `TableCommits`: commits, and then calls `announce`, which must neither block nor raise."""

    commits: TableCommits
    announce: Callable[[TableName], None]

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        """See the port."""
        result = self.commits.commit(committable, is_open)
        self.announce(committable.key.table)
        return result
