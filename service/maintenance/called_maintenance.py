"""Maintenance that SQL calls, under the id of the query that calls it."""

from __future__ import annotations

from service.errors.maintenance_errors import MaintenanceNotFound
from service.maintenance.maintenance_service import MaintenanceService
from service.model.writes.writes import WriteRecord


class CalledMaintenance:
    """Implements the `MaintenanceCalls` port over the maintenance of this gateway."""

    def __init__(self, maintenances: MaintenanceService) -> None:
        self._maintenances = maintenances

    def take(self, record: WriteRecord) -> None:
        """See the port's `take`."""
        assert record.write.call is not None  # as the port demands
        if not self.has_taken(record):
            self._maintenances.call(record.write.call, record.write.table, record.caller, record.query_id)

    def has_taken(self, record: WriteRecord) -> bool:
        """See the port's `has_taken`."""
        try:
            self._maintenances.find(record.write.table, record.query_id)
        except MaintenanceNotFound:
            return False
        return True
