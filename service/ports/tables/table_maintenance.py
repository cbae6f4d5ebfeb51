"""The external parts that maintenance needs: small Protocols, named for the need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import Gathered, MaintenanceRecord
from service.model.tables.tables import TableName


class TableMaintenance(Protocol):
    """Maintains a table. Rows stay what they are, and concurrent commits are not disturbed.

    All raise TableNotFound if the table is gone, MaintenanceFailed if the operation is impossible, and
    PartDown if the part that does it is down.
    """

    def compact(self, key: TableKey) -> Mapping[str, int]:
        """Rewrites small files, and files that deletes apply to, until no deletes are left."""

    def expire(self, table: TableName, older_than: datetime, snapshots_kept: int) -> Mapping[str, int]:
        """Expires older snapshots, except the newest `snapshots_kept` and what branches and tags need."""

    def remove_orphans(self, table: TableName, older_than: datetime) -> Mapping[str, int]:
        """Deletes older files below the table's location that no snapshot has.

        Files that wait to be committed are among them: ask `WaitingIngests` before.
        """


class MaintenanceMetrics(Protocol):
    """Metrics of the maintenance that this process did since its start. Nothing blocks, nothing raises."""

    def ended(self, record: MaintenanceRecord) -> None:
        """Counts a maintenance that has ended, with its operations."""

    def postponed(self) -> None:
        """Counts a maintenance that stays open, since a part that it needs is down."""


class MaintenanceLog(Protocol):
    """Maintenance requests and their outcomes. All raise MetricsStoreDown if the log does not answer."""

    def add(self, record: MaintenanceRecord) -> MaintenanceRecord:
        """Keeps the record and returns it; if the table has an open maintenance, returns that one instead."""

    def save(self, record: MaintenanceRecord) -> None:
        """Keeps the record's progress."""

    def find(self, maintenance_id: UUID) -> MaintenanceRecord | None:
        """Returns the maintenance as it is now."""

    def forget(self, before: datetime) -> int:
        """Deletes those that ended before, and returns how many."""

    def latest(self, table: TableName, limit: int) -> Sequence[MaintenanceRecord]:
        """Lists the table's newest maintenances, at most `limit`, the newest first."""


class MaintenanceTurns(Protocol):
    """Whose turn it is, across replicas. All raise MetricsStoreDown if the log does not answer."""

    def open(self) -> Sequence[MaintenanceRecord]:
        """Lists those that have not ended, the oldest first, whoever asked for them or began them."""

    def alone(self, table: TableName) -> AbstractContextManager[bool]:
        """Yields True if nobody else maintains the table while this is open."""

    def due(self, since: datetime) -> Sequence[TableKey]:
        """Lists tables whose upserts before `since` were not compacted, with no try since then."""

    def gathered(self, wanted: Gathered) -> Sequence[TableKey]:
        """Lists tables that have gathered as much ingested data as `wanted` says, with upserts or without."""


class WaitingIngests(Protocol):
    """Ingests that wait to be committed."""

    def oldest(self, table: TableName) -> datetime | None:
        """Returns when the table's oldest waiting ingest was accepted, for any branch and in any replica.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
