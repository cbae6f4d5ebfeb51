"""For whoever counts nothing."""

from __future__ import annotations

from service.model.operations.maintenance import MaintenanceRecord


class UnmeteredMaintenance:
    """The `MaintenanceMeters` port without any numbers."""

    def ended(self, record: MaintenanceRecord) -> None:
        """Does nothing."""

    def postponed(self) -> None:
        """Does nothing."""
