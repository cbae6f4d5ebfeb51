"""One ingest: the caller's request, and its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import BinaryIO
from uuid import UUID

from service.faults import Fault
from service.model.ingest.micro_batches import MicroBatchFiles, MicroBatchRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.validation_schema import ValidatedSchemas, ValidationSchema
from service.model.ingest.writing import CommitResult, Committable, TableKey, WriteResult
from service.model.tables.schema_changes import TableEvolution
from service.model.tables.schemas import Field
from service.model.tables.table_creation import RequestedSchema
from service.model.tables.tables import SortField
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

    `sort_order_id` is that of the requested sort order, if one was requested.
    """

    key: TableKey
    column_ids: tuple[int, ...] | None
    data_file_count: int
    record_count: int
    byte_count: int
    equality_field_ids: tuple[int, ...] = ()
    sort_order_id: int | None = None


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


@dataclass(frozen=True, slots=True)
class WaitingIngests:
    """The ingests in the log that wait to be committed: their tables, longest wait first, and their count."""

    keys: Sequence[TableKey]
    ingest_count: int
    oldest_accepted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestBacklog:
    """The backlog: the ingests that this process follows, and the tables and branches of all waiting ones.

    `oldest_ms` is how long ago any replica accepted the ingest that has waited longest.
    """

    ingest_count: int
    key_count: int
    oldest_ms: int = 0


@dataclass(frozen=True, slots=True)
class RoundPart:
    """The part of one ingest in a commit round."""

    ingest_id: UUID
    write_results: tuple[WriteResult, ...]
    trace: TraceContext | None = None


@dataclass(frozen=True, slots=True)
class RoundRevision:
    """The new part of one ingest in its round; with a refusal, the ingest is never committed."""

    ingest_id: UUID
    write_results: tuple[WriteResult, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class RevisedRound:
    """The round as the log has it now; `pending` is None when nothing of it waits any more.

    `taken` are the ingests whose revisions are in the log. Another process has revised or ended the others in
    the meantime; no log entry refers to the files that were written for them.
    """

    taken: frozenset[UUID]
    pending: PendingRound | None


@dataclass(frozen=True, slots=True)
class PendingRound:
    """The ingests that wait for one table and branch.

    Once the outcome is known, either `committed` or `refused` is called, once. `refused` takes a stable code
    and a detail for the callers; the files are then never committed. `postponed` takes the reason why all of
    the round still waits.

    `revise` replaces what the log has of single ingests by their revisions; each revision is applied as a
    whole or not at all. Its code is that of the refusals among them. `is_open` returns whether all of the
    round still waits, as it was read here.
    """

    committable: Committable
    committed: Callable[[CommitResult], None]
    refused: Callable[[str, str], None]
    postponed: Callable[[str], None]
    is_open: Callable[[], bool]
    parts: tuple[RoundPart, ...]
    revise: Callable[[Sequence[RoundRevision], str], RevisedRound]


class WriteRule(StrEnum):
    """The rules for write schemas. Sources: Iceberg issue 15925, and how readers treat the files."""

    UNKNOWN_COLUMN = "UNKNOWN_COLUMN"
    REPEATED_COLUMN = "REPEATED_COLUMN"
    TYPE_DIFFERS = "TYPE_DIFFERS"
    NOT_A_STRUCT = "NOT_A_STRUCT"
    NOTHING_WRITTEN = "NOTHING_WRITTEN"
    REQUIRED_SKIPPED = "REQUIRED_SKIPPED"
    PARTITION_SOURCE_SKIPPED = "PARTITION_SOURCE_SKIPPED"
    SORT_SOURCE_SKIPPED = "SORT_SOURCE_SKIPPED"
    EQUALITY_FIELD_SKIPPED = "EQUALITY_FIELD_SKIPPED"
    PARTITION_SOURCE_NOT_EQUALITY_FIELD = "PARTITION_SOURCE_NOT_EQUALITY_FIELD"
    NO_EQUALITY_FIELDS = "NO_EQUALITY_FIELDS"
    NOT_AN_EQUALITY_FIELD = "NOT_AN_EQUALITY_FIELD"
    DEFAULT_DIFFERS = "DEFAULT_DIFFERS"


@dataclass(frozen=True, slots=True)
class Violation:
    """A column that breaks a rule, and what to do about it; `place` is where its write stands in the request.

    `is_of_equality_fields`: the equality fields have to be fixed, not the write schema.
    """

    column: str
    rule: WriteRule
    detail: str
    place: str = ""
    is_of_equality_fields: bool = False

    @property
    def fault(self) -> Fault:
        """At the write schema, or at the equality fields."""
        part = "equalityFields" if self.is_of_equality_fields else "writeSchema"
        return Fault(self.detail, f"{self.place}/{part}", self.column, self.rule.value)


@dataclass(frozen=True, slots=True)
class WriteFault:
    """The reason why a write is impossible; `place` is a JSON pointer to the cause in the request."""

    place: str
    reason: str

    @property
    def fault(self) -> Fault:
        """At its place."""
        return Fault(self.reason, self.place)


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """A write schema as names; dots lead into structs."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnFields:
    """A write schema as fields with ids, from Iceberg's JSON."""

    columns: tuple[Field, ...]


class InferredColumns(StrEnum):
    """A write schema that consists of the columns that the records have."""

    INFER = "infer"


RequestedWriteSchema = ColumnNames | ColumnFields | InferredColumns | None
"""None means the whole table schema."""


@dataclass(frozen=True, slots=True)
class Write:
    """Records for one table and branch, under one write schema; their fields are JSON values by name.

    `place` is a JSON pointer to it in the request. `schema` is matched with the table before the write; None:
    the table stays as it is. An upsert replaces the rows that have the same values in its equality fields;
    None: in the table's own identifier fields.
    """

    key: TableKey
    records: Sequence[Mapping[str, object]]
    write_schema: RequestedWriteSchema = None
    place: str = ""
    schema: RequestedSchema | None = None
    is_upsert: bool = False
    equality_fields: tuple[str, ...] | None = None
    sort_order: tuple[SortField, ...] | None = None
    """The order of the rows in each data file; (): no order; None: the table's own."""

    @property
    def is_inferred(self) -> bool:
        """Whether the columns are those that the records have."""
        return isinstance(self.write_schema, InferredColumns)


@dataclass(frozen=True, slots=True)
class Route:
    """The choice of a record's target by the value of one field; targets are indexes.

    `otherwise` takes records whose value is not listed, and records without the field. If it is None, they
    are bad records.
    """

    field: str
    targets: Mapping[str, int]
    otherwise: int | None = None

    def target(self, value: object) -> int | None:
        """Returns the target for this value; numbers and booleans match as JSON spells them.

        Numbers with a fraction match by their shortest spelling (1.50 by "1.5", 7.0 by "7.0"). Numbers with
        more digits than a double can hold match no name.

        >>> route = Route("kind", {"http": 0, "7": 1, "true": 2, "1.5": 3})
        >>> [route.target(value) for value in ("http", 7, True, None, "dns", 7.0, 1.50)]
        [0, 1, 2, None, None, None, 3]
        """
        match value:
            case str():
                name: str | None = value
            case bool():
                name = "true" if value else "false"
            case int():
                name = str(value)
            case float() | Decimal():
                name = _shortest(value)
            case _:
                name = None
        return self.otherwise if name is None else self.targets.get(name, self.otherwise)


def _shortest(number: float | Decimal) -> str | None:
    """Returns the shortest JSON spelling of the number; None where a double cannot represent it."""
    nearest = float(number)
    if not math.isfinite(nearest) or (isinstance(number, Decimal) and Decimal(repr(nearest)) != number):
        return None
    # Zero and negative zero are the same number.
    return repr(nearest + 0.0)


@dataclass(frozen=True, slots=True)
class StreamedRecords:
    """Records as bytes; each call of `open` returns them from their beginning."""

    open: Callable[[], BinaryIO]
    record_format: RecordFormat
    compression: Compression = Compression.NONE


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """A caller's request for an ingest; `fingerprint` is the same for the same body.

    `shared` are records for all writes together; the writes then have none of their own. `route` chooses the
    write of each record; without it there is one write.
    """

    writes: tuple[Write, ...]
    fingerprint: str
    request_id: UUID | None = None
    on_error: OnError = OnError.REJECT_REQUEST
    shared: Sequence[Mapping[str, object]] | StreamedRecords | None = None
    route: Route | None = None
    executed: SourceRecords | MicroBatchRecords | MicroBatchFiles | None = None
    """Records that only executors read, from where they lie; then there are no others."""
    stream_batch: str | None = None
    """The micro-batch that the ingest writes: its checkpoint's id, and its own."""
    origin: str = ""
    """The address that a micro-batch was read from."""

    @property
    def read_from(self) -> str:
        """The address of the records; empty for records that were sent."""
        return self.executed.uri if isinstance(self.executed, SourceRecords) else self.origin

    @property
    def validation_schema(self) -> ValidationSchema | None:
        """How the records that do not fit are found, if the ingest only writes dead letters."""
        match self.executed:
            case (
                MicroBatchRecords(validation_schema=validation_schema)
                | MicroBatchFiles(validation_schema=validation_schema)
            ):
                return validation_schema
            case SourceRecords() | None:
                return None
