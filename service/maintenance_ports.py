"""What maintenance needs from outside: Protocols of at most five methods, named for the need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import Gathered, MaintenanceRecord
from service.model.tables.tables import TableName


class TableUpkeep(Protocol):
    """What can be done to a table. Rows stay what they are, and nothing is changed for who commits meanwhile.

    All raise TableNotFound if the table is gone, MaintenanceFailed if it cannot be done, and PartDown if what
    does it is down.
    """

    def compact(self, key: TableKey) -> Mapping[str, int]:
        """Rewrites small files, and all that deletes apply to, until there are no deletes left."""

    def expire(self, table: TableName, older_than: datetime, snapshots_kept: int) -> Mapping[str, int]:
        """Forgets snapshots from before, but not so many of the newest, nor what branches and tags need."""

    def remove_orphans(self, table: TableName, older_than: datetime) -> Mapping[str, int]:
        """Deletes files below the table's location that are older and that no snapshot has.

        Files that wait to be committed are among them: ask `WaitingIngests` before.
        """


class MaintenanceMeters(Protocol):
    """Numbers of what this process has done since its start. Nothing blocks, nothing raises."""

    def ended(self, record: MaintenanceRecord) -> None:
        """Counts one that has ended, with its operations."""

    def postponed(self) -> None:
        """Counts one that stays open, since a part that it needs is down."""


class MaintenanceLog(Protocol):
    """What was asked for, and what came of it. All raise MetricsStoreDown if the log does not answer."""

    def add(self, record: MaintenanceRecord) -> MaintenanceRecord:
        """Keeps it; or, while the table has another one that has not ended, gives that."""

    def save(self, record: MaintenanceRecord) -> None:
        """Keeps how far it is."""

    def find(self, maintenance_id: UUID) -> MaintenanceRecord | None:
        """As it is now."""

    def forget(self, before: datetime) -> int:
        """Deletes those that ended before; how many."""

    def latest(self, table: TableName, limit: int) -> Sequence[MaintenanceRecord]:
        """The table's, the newest first."""


class MaintenanceTurns(Protocol):
    """Whose turn it is, across replicas. All raise MetricsStoreDown if the log does not answer."""

    def open(self) -> Sequence[MaintenanceRecord]:
        """Those that have not ended, the oldest first, whoever asked for them or began with them."""

    def alone(self, table: TableName) -> AbstractContextManager[bool]:
        """True: nobody else maintains the table as long as this is open."""

    def due(self, since: datetime) -> Sequence[TableKey]:
        """Where upserts were committed before that moment, with no compaction since, nor tried since then."""

    def gathered(self, wanted: Gathered) -> Sequence[TableKey]:
        """Where as much has gathered by what was ingested, upserts or not."""


class WaitingIngests(Protocol):
    """What waits to be committed."""

    def oldest(self, table: TableName) -> datetime | None:
        """When the oldest was accepted that waits for any branch of the table, in any replica.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
