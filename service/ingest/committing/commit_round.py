"""One commit round: everything that waits for a table and branch becomes one snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from service.errors.gateway_error import PartDown
from service.errors.ingest_errors import CommittableUnreadable, UpsertNotPossible, WrittenFileMissing
from service.errors.table_errors import TableChanged, TableNotFound
from service.errors.unavailable import CatalogDown
from service.ingest.committing.missing_tables import MissingTables
from service.ingest.committing.rewriting import Rewriting, has_files, without_files
from service.ingest.traced_ingest import note_round
from service.model.ingest.commit_rounds import PendingRound, RevisedRound, RoundRevision
from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.ports.stores.ingest_log import IngestLog, OnRefused, count_nothing
from service.ports.tables.table_changes import RoundEnded, TableCommits
from service.tracing import Span, together

Refusal = TableChanged | TableNotFound | CommittableUnreadable | UpsertNotPossible
ATTEMPTS_AT_MOST = 4


class StillMissed(PartDown):
    """The table or a file of a round is missing, and may reappear."""


@dataclass(frozen=True, slots=True)
class CommitRound:
    """The outcome of a round: a result, or the refusal of everything in it.

    `ingest_ids` are all ingests that it began with. `is_alike`: this outcome is that of every one of them.
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
    missing_tables: MissingTables | None = None,
    on_refused: OnRefused = count_nothing,
) -> CommitRound | None:
    """Commits what waits; returns None when nothing does, or when another replica has or had the round.

    Whatever is raised, the round stays in the log, and is given out again with the same id. Without
    `rewriting`, files that no longer fit their table are refused. Without `missing_tables`, a round for a
    missing table is refused. `on_refused` receives everything that is refused, also where the round continues
    or fails.

    Raises:
        StillMissed: the table, or a file that was written for it, is missing, perhaps only for a while.
        PartDown: the log, the catalog or the storage does not answer.
    """
    try:
        with log.round(key, max_files, on_refused) as pending:
            if pending is None:
                # The replica that has the round may miss the table as well.
                return None
            with together("sluice.commit", [part.trace for part in pending.parts]) as span:
                if span.is_recorded:
                    note_round(span, pending.committable)
                ended = _Round(pending, commits, rewriting, missing_tables).end()
                _note_end(span, ended)
    except StillMissed:
        raise
    except RoundEnded:
        ended = None
    except BaseException:
        _there(key, missing_tables)
        raise
    _there(key, missing_tables)
    return ended


def _note_end(span: Span, ended: CommitRound) -> None:
    if ended.refusal is not None:
        span.fail(ended.refusal.code)
    elif ended.result is not None:
        span.note(
            {"sluice.snapshot_id": ended.result.snapshot_id, "sluice.repeated": ended.result.is_repeated}
        )


def _there(key: TableKey, missing_tables: MissingTables | None) -> None:
    if missing_tables is not None:
        missing_tables.ended(key)


class _Round:
    """A round that is open, until it ends."""

    def __init__(
        self,
        pending: PendingRound,
        commits: TableCommits,
        rewriting: Rewriting | None,
        missing_tables: MissingTables | None,
    ) -> None:
        self._missing_tables = missing_tables
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
        # The earlier files stay: another replica may have committed them. Those that it has not are orphans.
        return self._ended(result, None, is_alike=not (self._is_revised or result.is_repeated))

    def _refused(self, refusal: Refusal) -> CommitRound:
        if isinstance(refusal, TableNotFound):
            self._require_final(refusal)
        self._pending.refused(refusal.code, refusal.detail)
        return self._ended(None, refusal, is_alike=not self._is_revised)

    def _revised(self, refusal: TableChanged) -> CommitRound | None:
        """Returns None if the round continues, in most cases with revised files."""
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
        # Its files are for the table's current schema and spec: the table may have changed and changed back.
        self._is_doubted = True
        return None

    def _rewritten(
        self, refusal: TableChanged, rewriting: Rewriting, revisions: Sequence[RoundRevision]
    ) -> CommitRound | None:
        key = self._pending.committable.key
        before = {part.ingest_id: part.write_results for part in self._pending.parts}
        revised = self._pending.revise(revisions, refusal.code)
        for revision in revisions:
            if revision.ingest_id not in revised.taken:
                rewriting.discard(key, without_files(revision.write_results, before[revision.ingest_id]))
        details = [revision.refusal for revision in revisions if revision.refusal is not None]
        return self._gone_on(revised, TableChanged(next(iter(details), refusal.detail)))

    def _without_faulty(self, refusal: CommittableUnreadable | UpsertNotPossible) -> CommitRound | None:
        """Returns None if the round continues without the ingests whose files are at fault."""
        if isinstance(refusal, WrittenFileMissing):
            self._require_final(refusal)
        parts = self._pending.parts
        at_fault = [part.ingest_id for part in parts if has_files(part.write_results, refusal.data_files)]
        if len(at_fault) in (0, len(parts)):
            return self._refused(refusal)
        revisions = [RoundRevision(ingest_id, refusal=refusal.detail) for ingest_id in at_fault]
        return self._gone_on(self._pending.revise(revisions, refusal.code), refusal)

    def _gone_on(self, revised: RevisedRound, refusal: Refusal) -> CommitRound | None:
        """Returns None if something in the round still waits; otherwise the refusal applies to all of it."""
        self._is_revised = True
        if revised.pending is None:
            return self._ended(None, refusal, is_alike=False)
        self._pending = revised.pending
        return None

    def _is_final(self, missing_tables: MissingTables) -> bool:
        committable = self._pending.committable
        return missing_tables.is_final(committable.key, committable.round_id)

    def _require_final(self, missed: TableNotFound | WrittenFileMissing) -> None:
        if self._missing_tables is None or self._is_final(self._missing_tables):
            return
        detail = f"{missed.detail} It is looked for again before this is given up."
        self._pending.postponed(detail)
        raise StillMissed(detail) from missed

    def _ended(self, result: CommitResult | None, refusal: Refusal | None, *, is_alike: bool) -> CommitRound:
        return CommitRound(self._pending.committable, result, refusal, self._ingest_ids, is_alike)
