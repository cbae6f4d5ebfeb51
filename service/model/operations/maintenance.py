"""Maintenance of a table: compaction, expiry of snapshots, and removal of files that no snapshot has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from service.model.ingest.writing import TableKey


class MaintenanceOperation(StrEnum):
    """The operations; those of one request run in the order in which they stand here."""

    COMPACT = "compact"
    EXPIRE = "expire"
    REMOVE_ORPHANS = "removeOrphans"


class CompactionWidth(StrEnum):
    """The columns of a rewritten file.

    `WRITE_SCHEMA`: those of the files that it replaces, each write schema by itself. `TABLE`: all columns of
    the table.
    """

    WRITE_SCHEMA = "WRITE_SCHEMA"
    TABLE = "TABLE"


class MaintenanceState(StrEnum):
    """The state of a maintenance."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceBounds:
    """The bounds on what maintenance may remove.

    It keeps snapshots younger than `snapshot_age`, the newest `snapshots_kept` ones, and files that no
    snapshot has while they are younger than `orphan_age`.
    """

    snapshot_age: timedelta
    snapshots_kept: int
    orphan_age: timedelta

    def at_least(self, floors: MaintenanceBounds) -> MaintenanceBounds:
        """Returns bounds that keep what these keep, and what the floors keep.

        >>> one_day = MaintenanceBounds(snapshot_age=timedelta(1), snapshots_kept=9, orphan_age=timedelta(3))
        >>> five = MaintenanceBounds(snapshot_age=timedelta(5), snapshots_kept=1, orphan_age=timedelta(1))
        >>> found = one_day.at_least(five)
        >>> found.snapshot_age.days, found.snapshots_kept, found.orphan_age.days
        (5, 9, 3)
        """
        return MaintenanceBounds(
            snapshot_age=max(self.snapshot_age, floors.snapshot_age),
            snapshots_kept=max(self.snapshots_kept, floors.snapshots_kept),
            orphan_age=max(self.orphan_age, floors.orphan_age),
        )


NO_FLOORS = MaintenanceBounds(snapshot_age=timedelta(), snapshots_kept=1, orphan_age=timedelta())
"""The floors of an operator who leaves the bounds to the requests."""


@dataclass(frozen=True, slots=True)
class MaintenanceRequest:
    """A request for maintenance; only compaction uses the branch in `key`."""

    key: TableKey
    operations: tuple[MaintenanceOperation, ...]
    bounds: MaintenanceBounds


@dataclass(frozen=True, slots=True)
class Gathered:
    """The reason why a table is due: `file_count` files were committed since the operation was last done.

    The first of them was committed before `since`, and the operation has not been tried since then.
    """

    operation: MaintenanceOperation
    since: datetime
    file_count: int = 1


@dataclass(frozen=True, slots=True)
class OperationResult:
    """The result of an operation: counts by name, such as `rewrittenDataFiles`."""

    operation: MaintenanceOperation
    counts: Mapping[str, int]
    took_ms: int


@dataclass(frozen=True, slots=True)
class MaintenanceRecord:
    """One maintenance of a table, as its log has it; a table has at most one that has not ended."""

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
