"""The request of a caller to write records, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO
from uuid import UUID

from service.faults import Fault
from service.model.ingest.ingest import OnError
from service.model.ingest.micro_batches import MicroBatchFiles, MicroBatchRecords
from service.model.ingest.record_deletes import DeleteWhen, Envelope, json_name
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.validation_schema import ValidationSchema
from service.model.ingest.writing import TableKey
from service.model.tables.schemas import Field
from service.model.tables.table_creation import RequestedSchema
from service.model.tables.tables import SortField


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
    NOT_AN_ORDER_COLUMN = "NOT_AN_ORDER_COLUMN"
    ORDER_COLUMN_SKIPPED = "ORDER_COLUMN_SKIPPED"
    DEFAULT_DIFFERS = "DEFAULT_DIFFERS"
    NOT_A_REST_COLUMN = "NOT_A_REST_COLUMN"
    REST_COLUMN_SKIPPED = "REST_COLUMN_SKIPPED"


@dataclass(frozen=True, slots=True)
class Violation:
    """A column that breaks a rule, and what to do about it; `place` is where its write stands in the request.

    `is_of_equality_fields`: the equality fields have to be fixed, not the write schema. `is_of_order`: the
    column that orders the records has to be. `is_of_rest`: the column that takes their rest has to be.
    """

    column: str
    rule: WriteRule
    detail: str
    place: str = ""
    is_of_equality_fields: bool = False
    is_of_order: bool = False
    is_of_rest: bool = False

    @property
    def fault(self) -> Fault:
        """At the write schema, the equality fields, the order of the records, or their rest."""
        part = "equalityFields" if self.is_of_equality_fields else "writeSchema"
        part = "orderBy" if self.is_of_order else "rest" if self.is_of_rest else part
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
    None: in the table's own identifier fields. A write that only deletes is an upsert without rows.
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
    is_delete: bool = False
    """Whether every record only deletes the rows of its key; then `is_upsert` is true as well."""
    delete_when: DeleteWhen | None = None
    """The records of an upsert that only delete the rows of their keys."""
    envelope: Envelope | None = None
    """The form in which records of an upsert are wrapped, which says what each of them changes."""
    order_by: str | None = None
    """The column by which a record of an upsert loses against a later row of its key; None: it never does."""
    rest: str | None = None
    """The column that takes the fields without a column of their own; None: such a record does not fit."""

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
        name = json_name(value)
        return self.otherwise if name is None else self.targets.get(name, self.otherwise)


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
