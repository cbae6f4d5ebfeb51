"""What a scan read of how much: always *selected of total*."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Selection:
    """How many of a level's units were selected, of how many there are."""

    total: int
    selected: int


@dataclass(frozen=True, slots=True)
class PruningMetrics:
    """One scan, level by level. Bytes are those of data files; rows are those that left the scan.

    Source: Iceberg's `ScanMetrics`, and the tasks that the scan really ran.
    """

    partitions: Selection
    manifests: Selection
    data_files: Selection
    bytes: Selection
    rows: Selection
    planning_ms: int


@dataclass(frozen=True, slots=True)
class ScanRecord:
    """One scan of one Iceberg table at one snapshot (None: the table is empty)."""

    table: str
    snapshot_id: int | None
    metrics: PruningMetrics
