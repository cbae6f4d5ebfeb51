"""Maintenance metrics for callers that count nothing."""

from __future__ import annotations

from service.model.operations.maintenance import MaintenanceRecord


class NoMaintenanceMetrics:
    """Implements the `MaintenanceMetrics` port and counts nothing."""

    def ended(self, record: MaintenanceRecord) -> None:
        """Does nothing."""

    def postponed(self) -> None:
        """Does nothing."""
