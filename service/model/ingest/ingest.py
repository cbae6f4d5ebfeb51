"""One ingest: what a caller sent, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import BinaryIO
from uuid import UUID

from service.model.ingest.judged_by import JudgedBy, Judging
from service.model.ingest.micro_batches import MicroBatchFiles, MicroBatchRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.writing import CommitResult, Committable, TableKey, WriteResult
from service.model.tables.schema_changes import TableEvolution
from service.model.tables.schemas import Field
from service.model.tables.table_creation import RequestedSchema
from service.model.tables.tables import SortField
from service.tracing import TraceContext


class IngestState(StrEnum):
    """Where an ingest stands. `ACCEPTED`: it will be committed, whatever happens to the gateway.

    Unless its table changes before that so that its rows no longer fit, or its deletes would not reach all
    rows (upserts): then it is `FAILED`, and its commit says why.
    """

    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"
    FAILED = "FAILED"


class OnError(StrEnum):
    """What becomes of an ingest with records that do not fit.

    `DEAD_LETTER`: those go to the table's dead letters, and the rest is written.
    """

    REJECT_REQUEST = "REJECT_REQUEST"
    DEAD_LETTER = "DEAD_LETTER"


@dataclass(frozen=True, slots=True)
class WrittenTarget:
    """What one write schema of an ingest put into files. An upsert has equality fields.

    `sort_order_id` is that of the sort order that was asked for, if one was.
    """

    key: TableKey
    column_ids: tuple[int, ...] | None
    data_file_count: int
    record_count: int
    byte_count: int
    equality_field_ids: tuple[int, ...] = ()
    sort_order_id: int | None = None


def written_target(result: WriteResult) -> WrittenTarget:
    """What a write result is told as."""
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
    """What one table and branch got of an ingest. `snapshot_id` is None until it is committed.

    `error_detail` without a code says why it still waits, where that is known.
    """

    key: TableKey
    targets: tuple[WrittenTarget, ...]
    snapshot_id: int | None = None
    error_code: str | None = None
    error_detail: str | None = None


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that does not fit. `place` is where it stands in the request, as a JSON pointer.

    In a body of records it is told by its `line`, or by its `row` in formats without lines; both count
    from 1. `column` is the character of the line at which it could be read no further.
    """

    place: str
    reason: str
    line: int | None = None
    column: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """The records of an ingest that were not written, and the first of them."""

    count: int = 0
    samples: tuple[BadRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestRecord:
    """An ingest as its log has it. `fingerprint` tells whether two requests have the same body."""

    ingest_id: UUID
    caller: str
    request_id: UUID | None
    fingerprint: str
    accepted_at: datetime
    commits: tuple[IngestCommit, ...]
    rejected: Rejected = Rejected()
    write_ms: int = 0
    """From the beginning of the request until its files were written."""
    stream_batch: str | None = None
    evolutions: tuple[TableEvolution, ...] = ()
    """What was made and changed before anything was written; it stays, whatever becomes of the ingest."""
    judged_by: JudgedBy | None = None
    """What the records of a micro-batch were read as, where some did not fit: their dead letters follow."""
    trace: TraceContext | None = None
    """That of the request; None: nobody traced it."""

    @property
    def state(self) -> IngestState:
        """Failed as soon as one table's part is; tables are not committed together."""
        if any(each.error_code is not None for each in self.commits):
            return IngestState.FAILED
        if all(each.snapshot_id is not None for each in self.commits):
            return IngestState.COMMITTED
        return IngestState.ACCEPTED


@dataclass(frozen=True, slots=True)
class WaitingIngests:
    """What waits in the log to be committed: where, what has waited longest first, and how many ingests."""

    keys: Sequence[TableKey]
    ingest_count: int
    oldest_accepted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestBacklog:
    """What waits to be committed: ingests that this process follows, and the tables and branches of all.

    `oldest_ms` is how long ago the one was accepted, by whichever replica, that has waited for longest.
    """

    ingest_count: int
    key_count: int
    oldest_ms: int = 0


@dataclass(frozen=True, slots=True)
class RoundPart:
    """What one ingest gave to a round."""

    ingest_id: UUID
    write_results: tuple[WriteResult, ...]
    trace: TraceContext | None = None


@dataclass(frozen=True, slots=True)
class RoundRevision:
    """What an ingest gives to its round instead of what it gave before; with a refusal, nothing ever."""

    ingest_id: UUID
    write_results: tuple[WriteResult, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class RevisedRound:
    """The round as the log has it now; None: nothing of it waits any more.

    `taken` are the ingests whose revisions are in the log. The others were revised or ended by somebody else
    meanwhile: files that were written for them are nobody's.
    """

    taken: frozenset[UUID]
    pending: PendingRound | None


@dataclass(frozen=True, slots=True)
class PendingRound:
    """What waits for one table and branch. `committed` or `refused` is called, once, when it is known which.

    `refused` has a stable code and a detail for the callers; the files are never committed then. `postponed`
    tells them why all of it still waits. `revise` puts revisions of single ingests in the place of what the
    log has; each is there as a whole, or not at all. The code is that of the refusals among them.
    `is_open` asks whether all of it still waits, as it was read here.
    """

    committable: Committable
    committed: Callable[[CommitResult], None]
    refused: Callable[[str, str], None]
    postponed: Callable[[str], None]
    is_open: Callable[[], bool]
    parts: tuple[RoundPart, ...]
    revise: Callable[[Sequence[RoundRevision], str], RevisedRound]


class WriteRule(StrEnum):
    """What a write schema must keep to. Sources: Iceberg issue 15925, and what readers make of the files."""

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
    """A column that breaks a rule, and what to do about it. `place` is that of its write in the request.

    `is_of_equality_fields`: what is to be mended are these, not the write schema.
    """

    column: str
    rule: WriteRule
    detail: str
    place: str = ""
    is_of_equality_fields: bool = False


@dataclass(frozen=True, slots=True)
class WriteFault:
    """Why a write cannot be made at all. `place` is where that stands in the request, as a JSON pointer."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """A write schema as names; dots lead into structs."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnFields:
    """A write schema as fields with ids, from Iceberg's JSON."""

    columns: tuple[Field, ...]


class InferredColumns(StrEnum):
    """A write schema that is whatever columns the records have."""

    INFER = "infer"


RequestedWriteSchema = ColumnNames | ColumnFields | InferredColumns | None
"""None: the whole table schema."""


@dataclass(frozen=True, slots=True)
class Write:
    """Records for one table and branch, under one write schema. Their fields are JSON values by name.

    `place` is where it stands in the request, as a JSON pointer. `schema` is what the table is matched
    against before; None: the table is taken as it is. An upsert replaces the rows that have the same values
    in its equality fields; None: in the table's own identifier fields.
    """

    key: TableKey
    records: Sequence[Mapping[str, object]]
    write_schema: RequestedWriteSchema = None
    place: str = ""
    schema: RequestedSchema | None = None
    is_upsert: bool = False
    equality_fields: tuple[str, ...] | None = None
    sort_order: tuple[SortField, ...] | None = None
    """The order of the rows in each data file; none at all for (); None: the table's own."""

    @property
    def is_inferred(self) -> bool:
        """Whether the columns are those that the records have."""
        return isinstance(self.write_schema, InferredColumns)


@dataclass(frozen=True, slots=True)
class Route:
    """Which target a record goes to, by the value of one field; targets are told by their index.

    `otherwise` takes what no value names, records without the field too; None: those are bad.
    """

    field: str
    targets: Mapping[str, int]
    otherwise: int | None = None

    def target(self, value: object) -> int | None:
        """The target for this value; numbers and booleans go by what JSON spells them as.

        Numbers with a fraction go by the fewest digits that tell them (1.50 by "1.5", 7.0 by "7.0"); those
        with more digits than a double tells have no name.

        >>> route = Route("kind", {"http": 0, "7": 1, "true": 2, "1.5": 3})
        >>> [route.target(each) for each in ("http", 7, True, None, "dns", 7.0, 1.50)]
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
    """The number as JSON spells it with the fewest digits; None where that is another one, or none."""
    nearest = float(number)
    if not math.isfinite(nearest) or (isinstance(number, Decimal) and Decimal(repr(nearest)) != number):
        return None
    # Zero is one number, with a sign or without.
    return repr(nearest + 0.0)


@dataclass(frozen=True, slots=True)
class StreamedRecords:
    """Records as bytes; `open` gives them from their beginning, as often as it is called."""

    open: Callable[[], BinaryIO]
    record_format: RecordFormat
    compression: Compression = Compression.NONE


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What a caller wants written. `fingerprint` is the same for the same body.

    `shared` are records for all writes together, which have none of their own then: `route` tells which
    record goes to which write; without it there is one write.
    """

    writes: tuple[Write, ...]
    fingerprint: str
    request_id: UUID | None = None
    on_error: OnError = OnError.REJECT_REQUEST
    shared: Sequence[Mapping[str, object]] | StreamedRecords | None = None
    route: Route | None = None
    executed: SourceRecords | MicroBatchRecords | MicroBatchFiles | None = None
    """Records that lie where only executors read them; then there are no others."""
    stream_batch: str | None = None
    """The micro-batch that it is: its checkpoint's id, and its own."""
    origin: str = ""
    """The address of what a micro-batch was read from."""

    @property
    def read_from(self) -> str:
        """The address of what is written; empty for records that were sent."""
        return self.executed.uri if isinstance(self.executed, SourceRecords) else self.origin

    @property
    def judging(self) -> Judging | None:
        """What tells the records that do not fit, if it is for their dead letters alone."""
        match self.executed:
            case MicroBatchRecords(judging=judging) | MicroBatchFiles(judging=judging):
                return judging
            case SourceRecords() | None:
                return None
