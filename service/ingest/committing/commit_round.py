"""One commit round: what waits for a table and branch becomes one snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from service.errors import (
    CatalogDown,
    CommittableUnreadable,
    PartDown,
    TableChanged,
    TableNotFound,
    UpsertNotPossible,
    WrittenFileMissing,
)
from service.ingest.committing.absences import Absences
from service.ingest.committing.rewriting import Rewriting, has_files, without_files
from service.ingest.traced_ingest import told_round
from service.ingest_ports import IngestLog, OnRefused, RoundEnded, TableCommits, told_to_nobody
from service.model.ingest.ingest import PendingRound, RevisedRound, RoundRevision
from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.tracing import Span, together

Refusal = TableChanged | TableNotFound | CommittableUnreadable | UpsertNotPossible
ATTEMPTS_AT_MOST = 4


class StillMissed(PartDown):
    """What a round is for is not there, and may be again."""


@dataclass(frozen=True, slots=True)
class CommitRound:
    """What came of a round: a result, or the refusal of all that was in it.

    `ingest_ids` are all ingests that it began with. `is_alike`: nothing else came of any of them.
    """

    committable: Committable
    result: CommitResult | None
    refusal: Refusal | None
    ingest_ids: tuple[UUID, ...]
    is_alike: bool


def commit_round(
    key: TableKey,
    log: IngestLog,
    commits: TableCommits,
    max_files: int,
    rewriting: Rewriting | None = None,
    absences: Absences | None = None,
    on_refused: OnRefused = told_to_nobody,
) -> CommitRound | None:
    """Commits what waits; None when nothing does, or another replica has it, or had it.

    Whatever is raised on the way, the round stays in the log, and is given again with the same id. Without
    `rewriting`, files that do not fit their table any more are refused; without `absences`, what is for a
    table that is not there. `on_refused` is told of all that is refused, also where the round goes on or
    fails.

    Raises:
        StillMissed: the table, or a file that was written for it, is not there, which may pass.
        PartDown: the log, the catalog or the storage does not answer.
    """
    try:
        with log.round(key, max_files, on_refused) as pending:
            if pending is None:
                # Whoever has it may miss the table as well.
                return None
            with together("sluice.commit", [each.trace for each in pending.parts]) as span:
                if span.is_recorded:
                    told_round(span, pending.committable)
                ended = _Round(pending, commits, rewriting, absences).end()
                _told_end(span, ended)
    except StillMissed:
        raise
    except RoundEnded:
        ended = None
    except BaseException:
        _there(key, absences)
        raise
    _there(key, absences)
    return ended


def _told_end(span: Span, ended: CommitRound) -> None:
    if ended.refusal is not None:
        span.fail(ended.refusal.code)
    elif ended.result is not None:
        span.note(
            {"sluice.snapshot_id": ended.result.snapshot_id, "sluice.repeated": ended.result.is_repeated}
        )


def _there(key: TableKey, absences: Absences | None) -> None:
    if absences is not None:
        absences.ended(key)


class _Round:
    """A round that is open, until it ends."""

    def __init__(
        self,
        pending: PendingRound,
        commits: TableCommits,
        rewriting: Rewriting | None,
        absences: Absences | None,
    ) -> None:
        self._absences = absences
        self._ingest_ids = pending.committable.ingest_ids
        self._pending = pending
        self._commits = commits
        self._rewriting = rewriting
        self._is_revised = False
        self._is_doubted = False

    def end(self) -> CommitRound:
        for _ in range(ATTEMPTS_AT_MOST):
            try:
                result = self._commits.commit(self._pending.committable, self._pending.is_open)
            except TableChanged as refusal:
                ended = self._revised(refusal)
                if ended is not None:
                    return ended
            except TableNotFound as refusal:
                return self._refused(refusal)
            except (CommittableUnreadable, UpsertNotPossible) as refusal:
                ended = self._without_faulty(refusal)
                if ended is not None:
                    return ended
            else:
                return self._committed(result)
        raise CatalogDown(f"{self._pending.committable.key.table} is changed all the time.")

    def _committed(self, result: CommitResult) -> CommitRound:
        self._pending.committed(result)
        # The files of before stay: another replica may have committed them, and what it did not is an orphan.
        return self._ended(result, None, is_alike=not (self._is_revised or result.is_repeated))

    def _refused(self, refusal: Refusal) -> CommitRound:
        if isinstance(refusal, TableNotFound):
            self._require_final(refusal)
        self._pending.refused(refusal.code, refusal.detail)
        return self._ended(None, refusal, is_alike=not self._is_revised)

    def _revised(self, refusal: TableChanged) -> CommitRound | None:
        """None: the round goes on, in another shape mostly."""
        if self._rewriting is None:
            return self._refused(refusal)
        key, parts = self._pending.committable.key, self._pending.parts
        try:
            revisions = self._rewriting.revisions(key, parts)
        except TableNotFound as missed:
            return self._refused(missed)
        except WrittenFileMissing as missed:
            self._require_final(missed)
            revisions = self._rewriting.revisions(key, parts, is_missing_final=True)
        if revisions:
            return self._rewritten(refusal, self._rewriting, revisions)
        if self._is_doubted:
            return self._refused(refusal)
        # Its files are for this very schema and spec: it may have changed to and fro.
        self._is_doubted = True
        return None

    def _rewritten(
        self, refusal: TableChanged, rewriting: Rewriting, revisions: Sequence[RoundRevision]
    ) -> CommitRound | None:
        key = self._pending.committable.key
        before = {each.ingest_id: each.write_results for each in self._pending.parts}
        revised = self._pending.revise(revisions, refusal.code)
        for each in revisions:
            if each.ingest_id not in revised.taken:
                rewriting.discard(key, without_files(each.write_results, before[each.ingest_id]))
        details = [each.refusal for each in revisions if each.refusal is not None]
        return self._gone_on(revised, TableChanged(next(iter(details), refusal.detail)))

    def _without_faulty(self, refusal: CommittableUnreadable | UpsertNotPossible) -> CommitRound | None:
        """None: the round goes on without the ingests whose files are at fault."""
        if isinstance(refusal, WrittenFileMissing):
            self._require_final(refusal)
        parts = self._pending.parts
        at_fault = [each.ingest_id for each in parts if has_files(each.write_results, refusal.data_files)]
        if len(at_fault) in (0, len(parts)):
            return self._refused(refusal)
        revisions = [RoundRevision(each, refusal=refusal.detail) for each in at_fault]
        return self._gone_on(self._pending.revise(revisions, refusal.code), refusal)

    def _gone_on(self, revised: RevisedRound, refusal: Refusal) -> CommitRound | None:
        """None: something of it still waits; the refusal is of all that was in it otherwise."""
        self._is_revised = True
        if revised.pending is None:
            return self._ended(None, refusal, is_alike=False)
        self._pending = revised.pending
        return None

    def _is_final(self, absences: Absences) -> bool:
        committable = self._pending.committable
        return absences.is_final(committable.key, committable.round_id)

    def _require_final(self, missed: TableNotFound | WrittenFileMissing) -> None:
        if self._absences is None or self._is_final(self._absences):
            return
        detail = f"{missed.detail} It is looked for again before this is given up."
        self._pending.postponed(detail)
        raise StillMissed(detail) from missed

    def _ended(self, result: CommitResult | None, refusal: Refusal | None, *, is_alike: bool) -> CommitRound:
        return CommitRound(self._pending.committable, result, refusal, self._ingest_ids, is_alike)
