"""An in-memory ingest log that can be taken down, and whose rounds another process may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock
from uuid import UUID, uuid4

from service.adapters.postgres.ingest_log.next_round import RoundSize, WaitingCommit, next_round
from service.errors import MetricsStoreDown
from service.ingest_ports import OnRefused, count_nothing
from service.model.ingest.ingest import (
    IngestCommit,
    IngestRecord,
    PendingRound,
    RevisedRound,
    RoundPart,
    RoundRevision,
    WaitingIngests,
    written_target,
)
from service.model.ingest.writing import CommitResult, Committable, TableKey, WriteResult


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
            for each in record.commits:
                own = tuple(result for result in results if result.target.key == each.key)
                self._rows.append(_Row(record.ingest_id, next(self._arrivals), each, own))
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
            rows = [each for each in self._rows if each.waits]
            keys = list(dict.fromkeys(each.commit.key for each in rows))
            oldest = min(rows, key=lambda each: each.arrival, default=None)
            accepted_at = None if oldest is None else self._records[oldest.ingest_id].accepted_at
            return WaitingIngests(keys, len({each.ingest_id for each in rows}), accepted_at)

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
        rows = [each for each in self._rows if each.commit.key == key and each.waits]
        opened = [each for each in rows if each.round_id is not None]
        if opened:
            return [each for each in opened if each.round_id == opened[0].round_id]
        size = RoundSize(max_files, 1 << 30, joined_rows=1_000_000, joined_files=1_000)
        chosen = {each.arrival for each in next_round([_waiting(each) for each in rows], size)}
        members = [each for each in rows if each.arrival in chosen]
        round_id = uuid4()
        for each in members:
            each.round_id = round_id
        return members

    def _pending(self, key: TableKey, rows: list[_Row], on_refused: OnRefused) -> PendingRound:
        [round_id] = {each.round_id for each in rows}
        assert round_id is not None
        results = tuple(result for each in rows for result in each.results)
        ingest_ids = tuple(each.ingest_id for each in rows)
        batches = (self._records[each].stream_batch for each in ingest_ids)
        committable = Committable(
            key, round_id, ingest_ids, results, tuple(each for each in batches if each is not None)
        )

        def committed(result: CommitResult) -> None:
            self.committed.append(committable)
            self._mark(
                rows, lambda commit: replace(commit, snapshot_id=result.snapshot_id, error_detail=None)
            )

        def refused(code: str, detail: str) -> None:
            same = [each for each in rows if each.results == read[each.ingest_id]]
            on_refused(self._mark(same, lambda commit: replace(commit, error_code=code, error_detail=detail)))

        def is_open() -> bool:
            with self._lock:
                self._require_up()
                return all(each.waits and each.results == read[each.ingest_id] for each in rows)

        def postponed(detail: str) -> None:
            self._mark(rows, lambda commit: replace(commit, error_detail=detail))

        def revise(revisions: Sequence[RoundRevision], code: str) -> RevisedRound:
            taken = frozenset(
                each.ingest_id for each in revisions if self._revise(each, code, round_id, read)
            )
            on_refused(sum(each.refusal is not None and each.ingest_id in taken for each in revisions))
            still = [each for each in rows if each.waits]
            return RevisedRound(taken, self._pending(key, still, on_refused) if still else None)

        read = {each.ingest_id: each.results for each in rows}
        parts = tuple(RoundPart(*each, self._records[each[0]].trace) for each in read.items())
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
            [row] = [each for each in self._rows if (each.ingest_id, each.round_id) == asked]
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
            waiting = [each for each in rows if each.waits]
            for each in waiting:
                each.commit = change(each.commit)
            return len(waiting)

    def _find(self, ingest_id: UUID) -> IngestRecord | None:
        record = self._records.get(ingest_id)
        commits = tuple(each.commit for each in self._rows if each.ingest_id == ingest_id)
        return record and replace(record, commits=commits)

    def _find_request(self, caller: str, request_id: UUID | None) -> IngestRecord | None:
        asked = (caller, request_id)
        found = [each for each in self._records.values() if (each.caller, each.request_id) == asked]
        return self._find(found[0].ingest_id) if found and request_id is not None else None

    def records(self) -> list[IngestRecord]:
        """Returns all records with their current commits."""
        with self._lock:
            self._require_up()
            return [record for each in self._records if (record := self._find(each)) is not None]

    def forget(self, ingest_ids: Sequence[UUID]) -> int:
        with self._lock:
            self._require_up()
            self._rows = [each for each in self._rows if each.ingest_id not in ingest_ids]
            for each in ingest_ids:
                del self._records[each]
        return len(ingest_ids)

    def _require_up(self) -> None:
        if self.is_down:
            raise MetricsStoreDown()


def _waiting(row: _Row) -> WaitingCommit:
    targets = {each.target for each in row.results}
    layouts = {f"{each.schema_id}/{each.spec_id}" for each in targets}
    files = sum(len(each.data_files) + len(each.delete_files) for each in row.results)
    is_upsert = any(each.is_upsert for each in targets)
    records = sum(each.record_count for each in row.results)
    return WaitingCommit(row.arrival, " ".join(sorted(layouts)), is_upsert, files, 0, records)
