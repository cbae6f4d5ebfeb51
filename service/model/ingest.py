"""One ingest: what a caller sent, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.model.schemas import Field
from service.model.writing import CommitResult, Committable, TableKey


class IngestState(StrEnum):
    """Where an ingest stands. `ACCEPTED`: it will be committed, whatever happens to the gateway."""

    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class WrittenTarget:
    """What one write schema of an ingest put into files. An upsert has equality fields."""

    key: TableKey
    column_ids: tuple[int, ...] | None
    data_file_count: int
    record_count: int
    byte_count: int
    equality_field_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestCommit:
    """What one table and branch got of an ingest. `snapshot_id` is None until it is committed."""

    key: TableKey
    targets: tuple[WrittenTarget, ...]
    snapshot_id: int | None = None
    error_code: str | None = None
    error_detail: str | None = None


@dataclass(frozen=True, slots=True)
class IngestRecord:
    """An ingest as its log has it. `fingerprint` tells whether two requests have the same body."""

    ingest_id: UUID
    caller: str
    request_id: UUID | None
    fingerprint: str
    accepted_at: datetime
    commits: tuple[IngestCommit, ...]

    @property
    def state(self) -> IngestState:
        """Failed as soon as one table's part is; tables are not committed together."""
        if any(each.error_code is not None for each in self.commits):
            return IngestState.FAILED
        if all(each.snapshot_id is not None for each in self.commits):
            return IngestState.COMMITTED
        return IngestState.ACCEPTED


@dataclass(frozen=True, slots=True)
class PendingRound:
    """What waits for one table and branch. One of the two is called, once, when it is known what came of it.

    `refused` has a stable code and a detail for the callers; the files are never committed then.
    """

    committable: Committable
    committed: Callable[[CommitResult], None]
    refused: Callable[[str, str], None]


class WriteRule(StrEnum):
    """What a write schema must keep to. Sources: Iceberg issue 15925, and what readers make of the files."""

    UNKNOWN_COLUMN = "UNKNOWN_COLUMN"
    REPEATED_COLUMN = "REPEATED_COLUMN"
    TYPE_DIFFERS = "TYPE_DIFFERS"
    NOT_A_STRUCT = "NOT_A_STRUCT"
    NOTHING_WRITTEN = "NOTHING_WRITTEN"
    REQUIRED_SKIPPED = "REQUIRED_SKIPPED"
    PARTITION_SOURCE_SKIPPED = "PARTITION_SOURCE_SKIPPED"
    SORT_COLUMN_SKIPPED = "SORT_COLUMN_SKIPPED"
    EQUALITY_FIELD_SKIPPED = "EQUALITY_FIELD_SKIPPED"
    PARTITION_SOURCE_NOT_EQUALITY_FIELD = "PARTITION_SOURCE_NOT_EQUALITY_FIELD"
    NO_EQUALITY_FIELDS = "NO_EQUALITY_FIELDS"
    NOT_AN_EQUALITY_FIELD = "NOT_AN_EQUALITY_FIELD"
    DEFAULT_DIFFERS = "DEFAULT_DIFFERS"


@dataclass(frozen=True, slots=True)
class Violation:
    """A column that breaks a rule, and what to do about it. `place` is that of its write in the request."""

    column: str
    rule: WriteRule
    detail: str
    place: str = ""


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

    `place` is where it stands in the request, as a JSON pointer. An upsert replaces the rows that have the
    same values in its equality fields; None: in the table's own identifier fields.
    """

    key: TableKey
    records: Sequence[Mapping[str, object]]
    write_schema: RequestedWriteSchema = None
    place: str = ""
    is_upsert: bool = False
    equality_fields: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What a caller wants written. `fingerprint` is the same for the same body."""

    writes: tuple[Write, ...]
    fingerprint: str
    request_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that does not fit. `place` is where it stands in the request, as a JSON pointer."""

    place: str
    reason: str
