"""One commit round: what waits for a table and branch becomes one snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import CommittableUnreadable, TableChanged, TableNotFound, UpsertNotPossible
from service.ingest_ports import IngestLog, TableCommits
from service.model.writing import CommitResult, Committable, TableKey

Refusal = TableChanged | TableNotFound | CommittableUnreadable | UpsertNotPossible
_REFUSALS = (TableChanged, TableNotFound, CommittableUnreadable, UpsertNotPossible)


@dataclass(frozen=True, slots=True)
class CommitRound:
    """What came of a round: a result, or the refusal of all that was in it."""

    committable: Committable
    result: CommitResult | None
    refusal: Refusal | None = None


def commit_round(key: TableKey, log: IngestLog, commits: TableCommits, max_files: int) -> CommitRound | None:
    """Commits what waits; None when nothing does, or another replica has it.

    Whatever is raised on the way, the round stays in the log, and is given again with the same id.

    Raises:
        PartDown: the log or the catalog does not answer.
    """
    with log.round(key, max_files) as pending:
        if pending is None:
            return None
        try:
            result = commits.commit(pending.committable)
        except _REFUSALS as refusal:
            pending.refused(refusal.code, refusal.detail)
            return CommitRound(pending.committable, None, refusal)
        pending.committed(result)
        return CommitRound(pending.committable, result)
