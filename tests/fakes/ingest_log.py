"""An in-memory ingest log that can be taken down, and whose rounds another process may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock
from uuid import UUID, uuid4

from service.adapters.postgres.ingest_log.next_round import RoundSize, WaitingCommit, next_round
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.commit_rounds import (
    PendingRound,
    RevisedRound,
    RoundPart,
    RoundRevision,
    WaitingIngests,
)
from service.model.ingest.ingest import IngestCommit, IngestRecord, written_target
from service.model.ingest.writing import CommitResult, Committable, TableKey, WriteResult, WriteTarget
from service.ports.stores.ingest_log import OnRefused, count_nothing


@dataclass(slots=True)
class _Row:
    ingest_id: UUID
    arrival: int
    commit: IngestCommit
    results: tuple[WriteResult, ...]
    round_id: UUID | None = None

    @property
    def waits(self) -> bool:
        return self.commit.snapshot_id is None and self.commit.error_code is None


class FakeIngestLog:
    """With `has_marks` off, it stores no outcome of a round, as if the process had died first."""

    def __init__(self) -> None:
        self.is_down = False
        self.has_marks = True
        self.taken_elsewhere: set[TableKey] = set()
        self.committed: list[Committable] = []
        self._arrivals = count()
        self.before_round: Callable[[TableKey], None] = lambda _: None
        self._records: dict[UUID, IngestRecord] = {}
        self._rows: list[_Row] = []
        self._locked: set[TableKey] = set()
        self._lock = Lock()

    def accept(self, record: IngestRecord, results: Sequence[WriteResult]) -> IngestRecord:
        with self._lock:
            self._require_up()
            earlier = self._find_request(record.caller, record.request_id) or self._find(record.ingest_id)
            if earlier is not None:
                return earlier
            self._records[record.ingest_id] = record
            for commit in record.commits:
                own = tuple(result for result in results if result.target.key == commit.key)
                self._rows.append(_Row(record.ingest_id, next(self._arrivals), commit, own))
            return record

    def find(self, ingest_id: UUID) -> IngestRecord | None:
        with self._lock:
            self._require_up()
            return self._find(ingest_id)

    def find_request(self, caller: str, request_id: UUID) -> IngestRecord | None:
        with self._lock:
            self._require_up()
            return self._find_request(caller, request_id)

    def waiting(self) -> WaitingIngests:
        with self._lock:
            self._require_up()
            rows = [row for row in self._rows if row.waits]
            keys = list(dict.fromkeys(row.commit.key for row in rows))
            oldest = min(rows, key=lambda row: row.arrival, default=None)
            accepted_at = None if oldest is None else self._records[oldest.ingest_id].accepted_at
            return WaitingIngests(keys, len({row.ingest_id for row in rows}), accepted_at)

    def round(
        self, key: TableKey, max_files: int, on_refused: OnRefused = count_nothing
    ) -> AbstractContextManager[PendingRound | None]:
        return self._round(key, max_files, on_refused)

    @contextmanager
    def _round(self, key: TableKey, max_files: int, on_refused: OnRefused) -> Iterator[PendingRound | None]:
        self.before_round(key)
        with self._lock:
            self._require_up()
            is_taken = key in self._locked | self.taken_elsewhere
            rows = [] if is_taken else self._members(key, max_files)
            if rows:
                self._locked.add(key)
        if not rows:
            yield None
            return
        try:
            yield self._pending(key, rows, on_refused)
        finally:
            self._locked.discard(key)

    def _members(self, key: TableKey, max_files: int) -> list[_Row]:
        rows = [row for row in self._rows if row.commit.key == key and row.waits]
        opened = [row for row in rows if row.round_id is not None]
        if opened:
            return [row for row in opened if row.round_id == opened[0].round_id]
        size = RoundSize(max_files, 1 << 30, joined_rows=1_000_000, joined_files=1_000)
        chosen = {commit.arrival for commit in next_round([_waiting(row) for row in rows], size)}
        members = [row for row in rows if row.arrival in chosen]
        round_id = uuid4()
        for member in members:
            member.round_id = round_id
        return members

    def _pending(self, key: TableKey, rows: list[_Row], on_refused: OnRefused) -> PendingRound:
        [round_id] = {row.round_id for row in rows}
        assert round_id is not None
        results = tuple(result for row in rows for result in row.results)
        ingest_ids = tuple(row.ingest_id for row in rows)
        batches = (self._records[ingest_id].stream_batch for ingest_id in ingest_ids)
        committable = Committable(
            key, round_id, ingest_ids, results, tuple(batch for batch in batches if batch is not None)
        )

        def committed(result: CommitResult) -> None:
            self.committed.append(committable)
            late = iter(result.late_counts)
            for row in rows if any(result.late_counts) else ():
                own = zip(row.results, late, strict=False)
                targets = tuple(replace(written_target(one), late_count=count) for one, count in own)
                row.commit = replace(row.commit, targets=targets)
            self._mark(
                rows, lambda commit: replace(commit, snapshot_id=result.snapshot_id, error_detail=None)
            )

        def refused(code: str, detail: str) -> None:
            same = [row for row in rows if row.results == read[row.ingest_id]]
            on_refused(self._mark(same, lambda commit: replace(commit, error_code=code, error_detail=detail)))

        def is_open() -> bool:
            with self._lock:
                self._require_up()
                return all(row.waits and row.results == read[row.ingest_id] for row in rows)

        def postponed(detail: str) -> None:
            self._mark(rows, lambda commit: replace(commit, error_detail=detail))

        def revise(revisions: Sequence[RoundRevision], code: str) -> RevisedRound:
            taken = frozenset(
                revision.ingest_id for revision in revisions if self._revise(revision, code, round_id, read)
            )
            on_refused(
                sum(revision.refusal is not None and revision.ingest_id in taken for revision in revisions)
            )
            still = [row for row in rows if row.waits]
            return RevisedRound(taken, self._pending(key, still, on_refused) if still else None)

        read = {row.ingest_id: row.results for row in rows}
        parts = tuple(RoundPart(*item, self._records[item[0]].trace) for item in read.items())
        return PendingRound(committable, committed, refused, postponed, is_open, parts, revise)

    def _revise(
        self,
        revision: RoundRevision,
        code: str,
        round_id: UUID,
        read: dict[UUID, tuple[WriteResult, ...]],
    ) -> bool:
        with self._lock:
            self._require_up()
            asked = (revision.ingest_id, round_id)
            [row] = [row for row in self._rows if (row.ingest_id, row.round_id) == asked]
            if not row.waits or row.results != read[row.ingest_id]:
                return False
            if revision.refusal is None:
                row.results = revision.write_results
                targets = tuple(map(written_target, row.results))
                row.commit = replace(row.commit, targets=targets)
            else:
                row.commit = replace(row.commit, error_code=code, error_detail=revision.refusal)
            return True

    def _mark(self, rows: list[_Row], change: Callable[[IngestCommit], IngestCommit]) -> int:
        with self._lock:
            self._require_up()
            if not self.has_marks:
                raise MetricsStoreDown()
            waiting = [row for row in rows if row.waits]
            for row in waiting:
                row.commit = change(row.commit)
            return len(waiting)

    def _find(self, ingest_id: UUID) -> IngestRecord | None:
        record = self._records.get(ingest_id)
        commits = tuple(row.commit for row in self._rows if row.ingest_id == ingest_id)
        return record and replace(record, commits=commits)

    def _find_request(self, caller: str, request_id: UUID | None) -> IngestRecord | None:
        asked = (caller, request_id)
        found = [record for record in self._records.values() if (record.caller, record.request_id) == asked]
        return self._find(found[0].ingest_id) if found and request_id is not None else None

    def records(self) -> list[IngestRecord]:
        """Returns all records with their current commits."""
        with self._lock:
            self._require_up()
            return [record for ingest_id in self._records if (record := self._find(ingest_id)) is not None]

    def forget(self, ingest_ids: Sequence[UUID]) -> int:
        with self._lock:
            self._require_up()
            self._rows = [row for row in self._rows if row.ingest_id not in ingest_ids]
            for ingest_id in ingest_ids:
                del self._records[ingest_id]
        return len(ingest_ids)

    def _require_up(self) -> None:
        if self.is_down:
            raise MetricsStoreDown()


def _waiting(row: _Row) -> WaitingCommit:
    targets = {result.target for result in row.results}
    layouts = {_layout(target) for target in targets}
    files = sum(len(result.data_files) + len(result.delete_files) for result in row.results)
    is_upsert = any(target.is_upsert for target in targets)
    records = sum(result.record_count + result.delete_count for result in row.results)
    return WaitingCommit(row.arrival, " ".join(sorted(layouts)), is_upsert, files, 0, records)


def _layout(target: WriteTarget) -> str:
    layout = f"{target.schema_id}/{target.spec_id}"
    order = target.order_field_id
    return layout if order is None else f"{layout}/{target.equality_field_ids}/{order}"
