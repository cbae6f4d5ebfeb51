"""How tables are kept in order."""

from __future__ import annotations

from pydantic import BaseModel, Field

from service.model.operations.maintenance import CompactionWidth, MaintenanceOperation


class MaintenanceSettings(BaseModel):
    """How tables are kept in order."""

    maintenance_interval_s: int = Field(
        3600,
        ge=0,
        le=31_536_000,
        description="how long after an upsert, or the first of many files, its table is maintained, and how "
        "often at most; 0: nothing is done by itself",
    )
    maintenance_operations: tuple[MaintenanceOperation, ...] = Field(
        (MaintenanceOperation.COMPACT,),
        description="what is done by itself to tables that were ingested to; `expire` and `removeOrphans` "
        "delete",
    )
    maintenance_appended_files: int = Field(
        200,
        ge=0,
        le=1_000_000,
        description="files that gather by ingests until their table is compacted; 0: it is not for them",
    )
    maintenance_idle_s: int = Field(
        86_400,
        ge=0,
        le=31_536_000,
        description="seconds after which all that is done by itself is done to a table that was ingested to, "
        "upserts or not; 0: never",
    )
    maintenance_compaction_width: CompactionWidth = Field(
        CompactionWidth.WRITE_SCHEMA,
        description="which columns compacted files have: `WRITE_SCHEMA`, those of the files that they "
        "replace, each write schema by itself; `TABLE`, all that the table has, in as few files as possible",
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
