"""Why a table is not maintained."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.gateway_error import CallerError, GatewayError
from service.faults import Fault


class MaintenanceNotFound(CallerError):
    """The table has no maintenance with this id."""

    code = "MAINTENANCE_NOT_FOUND"


class MaintenanceRunning(CallerError):
    """The table has a maintenance that has not ended."""

    code = "MAINTENANCE_RUNNING"


class MaintenanceBelowFloor(CallerError):
    """The maintenance would remove what the operator keeps. Nothing was removed.

    `faults` has each bound that is below its floor.
    """

    code = "MAINTENANCE_BELOW_FLOOR"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(" ".join(fault.detail for fault in faults) or None)
        self.faults = tuple(faults)


class MaintenanceNotSafe(CallerError):
    """Files that are needed might be deleted. Nothing was deleted."""

    code = "MAINTENANCE_NOT_SAFE"


class MaintenanceFailed(GatewayError):
    """The table could not be maintained. Its rows are unchanged."""

    code = "MAINTENANCE_FAILED"
