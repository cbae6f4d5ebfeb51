"""How the gateway maintains tables."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.value_types import Listed
from service.model.operations.maintenance import CompactionWidth, MaintenanceOperation


class MaintenanceSettings(BaseModel):
    """How the gateway maintains tables."""

    maintenance_interval_s: int = Field(
        3600,
        ge=0,
        le=31_536_000,
        description="seconds from an upsert, or from the first of many files, to its table's maintenance, "
        "and at least between two; 0: no automatic maintenance",
    )
    maintenance_operations: Listed[MaintenanceOperation] = Field(
        (MaintenanceOperation.COMPACT,),
        description="operations that run automatically after ingests; `expire` and `removeOrphans` delete",
    )
    maintenance_appended_files: int = Field(
        200,
        ge=0,
        le=1_000_000,
        description="number of ingested files that starts a compaction of their table; 0: none does",
    )
    maintenance_idle_s: int = Field(
        86_400,
        ge=0,
        le=31_536_000,
        description="seconds from an ingest until all automatic operations run on its table, "
        "upserts or not; 0: never",
    )
    maintenance_compaction_width: CompactionWidth = Field(
        CompactionWidth.WRITE_SCHEMA,
        description="which columns compacted files have: `WRITE_SCHEMA`, those of the files that they "
        "replace, each write schema by itself; `TABLE`, all that the table has, in as few files as possible",
    )
    maintenance_snapshot_age_h: int = Field(
        120, ge=0, le=87_600, description="hours that snapshots stay, if maintenance expires them"
    )
    maintenance_snapshots_kept: int = Field(
        1, ge=1, le=100_000, description="snapshots that stay, however old they are"
    )
    maintenance_orphan_age_h: int = Field(
        72, ge=24, le=87_600, description="hours that files stay that no snapshot has"
    )
    maintenance_min_snapshot_age_h: int = Field(
        24,
        ge=0,
        le=87_600,
        description="hours that snapshots stay, whoever asks for an expiry, so that running readers have "
        "their files",
    )
    maintenance_min_snapshots_kept: int = Field(
        1, ge=1, le=100_000, description="newest snapshots that stay, whoever asks for an expiry"
    )
    maintenance_min_orphan_age_h: int = Field(
        24,
        ge=24,
        le=87_600,
        description="hours that files stay that no snapshot has, whoever asks for their removal",
    )

    @model_validator(mode="after")
    def _own_maintenance_keeps_the_floors(self) -> Self:
        floors = {
            "maintenance_min_snapshot_age_h": "maintenance_snapshot_age_h",
            "maintenance_min_snapshots_kept": "maintenance_snapshots_kept",
            "maintenance_min_orphan_age_h": "maintenance_orphan_age_h",
        }
        for floor, name in floors.items():
            if getattr(self, name) < getattr(self, floor):
                raise ValueError(f"{name} is less than {floor}: change one of them")
        return self
