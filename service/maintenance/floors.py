"""Checks that a request keeps what the operator keeps: what maintenance removes is lost for good."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from service.errors.maintenance_errors import MaintenanceBelowFloor
from service.faults import Fault
from service.model.operations.maintenance import MaintenanceBounds, MaintenanceOperation, MaintenanceRequest


def check_floors(request: MaintenanceRequest, floors: MaintenanceBounds) -> None:
    """Checks the bounds of the operations that the request has. The floors hold for every caller.

    Raises:
        MaintenanceBelowFloor: a bound is below its floor.
    """
    faults = [*_of_snapshots(request, floors), *_of_orphans(request, floors)]
    if faults:
        raise MaintenanceBelowFloor(faults)


def _of_snapshots(request: MaintenanceRequest, floors: MaintenanceBounds) -> Iterator[Fault]:
    if MaintenanceOperation.EXPIRE not in request.operations:
        return
    if request.bounds.snapshot_age < floors.snapshot_age:
        yield Fault(
            f"Snapshots stay for at least {_hours(floors.snapshot_age)} hours here.",
            "/snapshotsOlderThanHours",
        )
    if request.bounds.snapshots_kept < floors.snapshots_kept:
        yield Fault(f"At least the newest {floors.snapshots_kept} snapshots stay here.", "/retainLast")


def _of_orphans(request: MaintenanceRequest, floors: MaintenanceBounds) -> Iterator[Fault]:
    if MaintenanceOperation.REMOVE_ORPHANS not in request.operations:
        return
    if request.bounds.orphan_age < floors.orphan_age:
        yield Fault(
            f"Files that no snapshot has stay for at least {_hours(floors.orphan_age)} hours here.",
            "/orphansOlderThanHours",
        )


def _hours(age: timedelta) -> str:
    """Returns the number of hours, without a fraction if there is none.

    >>> _hours(timedelta(days=2)), _hours(timedelta(minutes=90))
    ('48', '1.5')
    """
    return f"{age / timedelta(hours=1):g}"
