"""What keeps a table in order: files rewritten, snapshots forgotten, files removed that no snapshot has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from service.model.ingest.writing import TableKey


class MaintenanceOperation(StrEnum):
    """What may be done. Operations of one request are done in the order in which they stand here."""

    COMPACT = "compact"
    EXPIRE = "expire"
    REMOVE_ORPHANS = "removeOrphans"


class CompactionWidth(StrEnum):
    """Which columns a rewritten file has.

    `WRITE_SCHEMA`: those of the files that it replaces, each write schema by itself.
    `TABLE`: all that the table has.
    """

    WRITE_SCHEMA = "WRITE_SCHEMA"
    TABLE = "TABLE"


class MaintenanceState(StrEnum):
    """Where it stands."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class MaintenanceBounds:
    """What must stay: younger snapshots, so many of the newest, and younger files that no snapshot has."""

    snapshot_age: timedelta
    snapshots_kept: int
    orphan_age: timedelta


@dataclass(frozen=True, slots=True)
class MaintenanceRequest:
    """What is wanted. Of `key`, only compaction looks at the branch."""

    key: TableKey
    operations: tuple[MaintenanceOperation, ...]
    bounds: MaintenanceBounds


@dataclass(frozen=True, slots=True)
class Gathered:
    """What makes a table due: so many files were committed since the operation was last done.

    The first of them before `since`; nor was it tried after that.
    """

    operation: MaintenanceOperation
    since: datetime
    file_count: int = 1


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What an operation did: counts by name, such as `rewrittenDataFiles`."""

    operation: MaintenanceOperation
    counts: Mapping[str, int]
    took_ms: int


@dataclass(frozen=True, slots=True)
class MaintenanceRecord:
    """One maintenance of a table, as its log has it. A table has one at a time that has not ended."""

    maintenance_id: UUID
    request: MaintenanceRequest
    requested_by: str
    requested_at: datetime
    state: MaintenanceState = MaintenanceState.WAITING
    attempts: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    results: tuple[OperationResult, ...] = ()
    error_code: str | None = None
    error_detail: str | None = None
