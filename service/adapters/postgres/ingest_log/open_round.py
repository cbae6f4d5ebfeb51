"""An open commit round of the ingest log, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, and_, case, exists, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.postgres.ingest_log.ingest_rows import key_values, late_targets, revised_values
from service.adapters.postgres.ingest_log.ingest_tables import CommitRoundRow, IngestCommitRow
from service.adapters.postgres.shared.storable import storable
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.commit_rounds import RoundPart, RoundRevision
from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.ports.stores.ingest_log import OnRefused

T = TypeVar("T")


class OpenRound:
    """An open round. Its outcome is written to its ingests and, for statistics, to its own row, at once.

    `digests` are SHA-256 hashes of the bytes that each ingest's part was read from. If another replica
    believed the lock lost and replaced the bytes, this round does not reject or replace them unseen.
    `on_refused` receives how many ingests were rejected, once the log has recorded it.
    """

    def __init__(
        self,
        connection: Connection,
        committable: Committable,
        digests: Mapping[UUID, bytes],
        on_refused: OnRefused,
        parts: Sequence[RoundPart] = (),
    ) -> None:
        self._parts = parts
        self._on_refused = on_refused
        self._connection = connection
        self._committable = committable
        self._digests = digests
        self._began = time.monotonic()

    def committed(self, result: CommitResult) -> None:
        """Records that the whole round is in the snapshot.

        Raises:
            MetricsStoreDown: the log does not answer; the round will be handed out again.
        """
        # The snapshot's manifests now describe the files for good.
        values: dict[str, object] = {
            "snapshot_id": result.snapshot_id,
            "committed_at": func.now(),
            "results": None,
            "error_detail": None,
        }
        if any(result.late_counts):
            values["targets"] = self._targets(result.late_counts)
        self._end(values, {"snapshot_id": result.snapshot_id})

    def _targets(self, late_counts: Sequence[int]) -> ColumnElement[Any]:
        """The column `targets`, with the late records of each result."""
        row, start = IngestCommitRow, 0
        changed: list[tuple[ColumnElement[bool], ColumnElement[Any]]] = []
        for part in self._parts:
            own = late_counts[start : start + len(part.write_results)]
            start += len(part.write_results)
            if any(own):
                targets = literal(late_targets(part.write_results, own), JSONB())
                changed.append((row.ingest_id == part.ingest_id, targets))
        return case(*changed, else_=row.targets)

    def refused(self, code: str, detail: str) -> None:
        """Records that no part of the round will ever be committed.

        Raises:
            MetricsStoreDown: the log does not answer; the round will be handed out again.
        """
        values = _refusal(code, detail)
        self._on_refused(self._end(values, {"error_code": code}, or_(*map(self._is_as_read, self._digests))))

    def postponed(self, detail: str) -> None:
        """Records why the whole round still waits; callers who ask see the reason.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        row, reported = IngestCommitRow, storable(detail)
        is_new = and_(
            is_in_round(self._committable.key, self._committable.round_id),
            row.error_detail.is_distinct_from(reported),
        )
        statement = update(row).where(is_new).values(error_detail=reported)
        self.ask(lambda: self._connection.execute(statement))

    def is_open(self) -> bool:
        """Whether the whole round still waits as it was read: not committed, rejected or revised since.

        The lock goes with this connection: if it answers, it has the lock.

        Raises:
            MetricsStoreDown: the log does not answer, or the connection was lost.
        """
        row, committable = IngestCommitRow, self._committable
        digest = func.sha256(func.coalesce(row.results, b""))
        statement = select(row.ingest_id, digest).where(is_in_round(committable.key, committable.round_id))
        found = self.ask(lambda: self._connection.execute(statement).all())
        return {ingest_id: bytes(digest) for ingest_id, digest in found} == self._digests

    def revise(self, revision: RoundRevision, code: str) -> bool:
        """Writes the revision to the log. Returns False if another process was faster.

        Raises:
            MetricsStoreDown: the log does not answer; the revision may or may not be there.
        """
        committable, row = self._committable, IngestCommitRow
        values = (
            revised_values(revision.write_results)
            if revision.refusal is None
            else _refusal(code, revision.refusal)
        )
        is_mine = and_(
            is_in_round(committable.key, committable.round_id), self._is_as_read(revision.ingest_id)
        )
        statement = update(row).where(is_mine).values(**values).returning(row.ingest_id)
        is_taken = self.ask(lambda: self._connection.scalar(statement)) is not None
        if is_taken and revision.refusal is not None:
            self._on_refused(1)
        return is_taken

    def ask(self, question: Callable[[], T]) -> T:
        """Returns the log's answer.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        try:
            return question()
        except SQLAlchemyError as error:
            raise MetricsStoreDown() from error

    def _is_as_read(self, ingest_id: UUID) -> ColumnElement[bool]:
        row = IngestCommitRow
        return and_(row.ingest_id == ingest_id, func.sha256(row.results) == self._digests[ingest_id])

    def _end(
        self,
        values: Mapping[str, object],
        outcome: Mapping[str, object],
        condition: ColumnElement[bool] | None = None,
    ) -> int:
        """Returns how many ingests this call has ended; 0 if the round had ended before."""
        row, committable = IngestCommitRow, self._committable
        is_member = is_in_round(committable.key, committable.round_id)
        if condition is not None:
            is_member = and_(is_member, condition)
        marked = update(row).where(is_member).values(**values).returning(row.ingest_id).cte("marked")
        figures = {**self._figures(), **outcome}
        # The second process finds nothing to mark, and inserts no row.
        chosen = select(*(literal(value) for value in figures.values()), func.now()).where(
            exists(select(marked))
        )
        statement = insert(CommitRoundRow).from_select([*figures, "ended_at"], chosen)
        count = select(func.count()).select_from(marked).scalar_subquery()
        statement = statement.on_conflict_do_nothing()
        return self.ask(lambda: self._connection.scalar(statement.returning(count))) or 0

    def _figures(self) -> dict[str, object]:
        committable = self._committable
        results = committable.write_results
        return {
            "round_id": committable.round_id,
            **key_values(committable.key),
            "commit_ms": round((time.monotonic() - self._began) * 1000),
            "ingest_count": len(committable.ingest_ids),
            "target_count": committable.target_count,
            "file_count": sum(len(result.data_files) + len(result.delete_files) for result in results),
            "record_count": sum(result.record_count for result in results),
            "byte_count": sum(result.byte_count for result in results),
        }


def _refusal(code: str, detail: str) -> dict[str, object]:
    # Its files are not in a snapshot, and are removed with the table's other orphans. Until then an operator
    # can find the rows through the description of the files, which is deleted with the ingest.
    return {"error_code": code, "error_detail": storable(detail)}


def is_waiting(key: TableKey) -> ColumnElement[bool]:
    """The condition for rows that wait for one table and branch."""
    row = IngestCommitRow
    return and_(
        *(getattr(row, name) == value for name, value in key_values(key).items()),
        row.snapshot_id.is_(None),
        row.error_code.is_(None),
    )


def is_in_round(key: TableKey, round_id: UUID) -> ColumnElement[bool]:
    """The condition for waiting rows in this round."""
    return and_(is_waiting(key), IngestCommitRow.round_id == round_id)
