"""One ingest: the caller's request, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.faults import Fault
from service.model.ingest.validation_schema import ValidatedSchemas
from service.model.ingest.writing import TableKey, WriteResult
from service.model.tables.schema_changes import TableEvolution
from service.tracing import TraceContext


class IngestState(StrEnum):
    """The state of an ingest; an `ACCEPTED` one will be committed, whatever happens to the gateway.

    There is one exception: its table may change before the commit so that its rows no longer fit, or its
    deletes would not reach all rows (upserts). Then it is `FAILED`, and its commit says why.
    """

    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"
    FAILED = "FAILED"


class OnError(StrEnum):
    """The treatment of records that do not fit.

    `DEAD_LETTER`: they go to the table's dead letters, and the rest is written.
    """

    REJECT_REQUEST = "REJECT_REQUEST"
    DEAD_LETTER = "DEAD_LETTER"


@dataclass(frozen=True, slots=True)
class WrittenTarget:
    """The files that an ingest wrote with one write schema; an upsert has equality fields.

    `sort_order_id` is that of the requested sort order, if one was requested. `delete_count` counts the keys
    whose last record only deletes. `order_field_id` is the column by which late records lose, and
    `late_count` how many of the counted records and keys were late, once it is committed.
    """

    key: TableKey
    column_ids: tuple[int, ...] | None
    data_file_count: int
    record_count: int
    byte_count: int
    equality_field_ids: tuple[int, ...] = ()
    sort_order_id: int | None = None
    delete_count: int = 0
    order_field_id: int | None = None
    late_count: int = 0

    @property
    def change_count(self) -> int:
        """The number of rows that were written, and of keys that were only deleted."""
        return self.record_count + self.delete_count


def written_target(result: WriteResult) -> WrittenTarget:
    """Returns the write result as it is reported."""
    target = result.target
    return WrittenTarget(
        target.key,
        target.write_schema_column_ids,
        len(result.data_files),
        result.record_count,
        result.byte_count,
        target.equality_field_ids,
        target.sort_order_id,
        result.delete_count,
        target.order_field_id,
    )


@dataclass(frozen=True, slots=True)
class IngestCommit:
    """The part of an ingest for one table and branch; `snapshot_id` is None until it is committed.

    `error_detail` without a code says why it still waits, where that is known.
    """

    key: TableKey
    targets: tuple[WrittenTarget, ...]
    snapshot_id: int | None = None
    error_code: str | None = None
    error_detail: str | None = None


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that does not fit; `place` is a JSON pointer to it in the request.

    In a body of records it is identified by its `line`, or by its `row` in formats without lines; both count
    from 1. `column` is the character of the line at which parsing failed.
    """

    place: str
    reason: str
    line: int | None = None
    column: int | None = None
    row: int | None = None

    @property
    def fault(self) -> Fault:
        """By its line or row where these are known, else by its place."""
        is_numbered = any(number is not None for number in (self.line, self.column, self.row))
        pointer = None if is_numbered else self.place
        return Fault(self.reason, pointer, line=self.line, column=self.column, row=self.row)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The number of an ingest's records that were not written, and the first of them."""

    count: int = 0
    samples: tuple[BadRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestRecord:
    """An ingest as its log has it; equal fingerprints mean that two requests have the same body."""

    ingest_id: UUID
    caller: str
    request_id: UUID | None
    fingerprint: str
    accepted_at: datetime
    commits: tuple[IngestCommit, ...]
    rejected: Rejected = Rejected()
    write_ms: int = 0
    """The time from the beginning of the request until its files were written."""
    stream_batch: str | None = None
    evolutions: tuple[TableEvolution, ...] = ()
    """The changes to tables before anything was written; they stay, even if the ingest fails."""
    validated_schemas: ValidatedSchemas | None = None
    """The fields that a micro-batch's records were read as, if dead letters follow."""
    trace: TraceContext | None = None
    """The trace of the request; None if it was not traced."""

    @property
    def state(self) -> IngestState:
        """The state: failed as soon as the part of one table is; tables are not committed together."""
        if any(commit.error_code is not None for commit in self.commits):
            return IngestState.FAILED
        if all(commit.snapshot_id is not None for commit in self.commits):
            return IngestState.COMMITTED
        return IngestState.ACCEPTED
