"""How tables are kept in order."""

from __future__ import annotations

from pydantic import BaseModel, Field

from service.model.maintenance import MaintenanceOperation


class MaintenanceSettings(BaseModel):
    """How tables are kept in order."""

    maintenance_interval_s: int = Field(
        3600,
        ge=0,
        le=31_536_000,
        description="how long after an upsert its table is maintained, and how often at most; 0: never",
    )
    maintenance_operations: tuple[MaintenanceOperation, ...] = Field(
        (MaintenanceOperation.COMPACT,), description="what is done then"
    )
    maintenance_snapshot_age_h: int = Field(
        120, ge=0, le=87_600, description="hours that snapshots stay, where maintenance forgets them"
    )
    maintenance_snapshots_kept: int = Field(
        1, ge=1, le=100_000, description="snapshots that stay, however old they are"
    )
    maintenance_orphan_age_h: int = Field(
        72, ge=24, le=87_600, description="hours that files stay which no snapshot has"
    )
