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
    """One scan of one table at one snapshot (None: it is empty, or has no snapshots).

    >>> nothing, files = Selection(0, 0), Selection(9, 1)
    >>> metrics = PruningMetrics(files, nothing, files, files, files, planning_ms=0)
    >>> ScanRecord("spark_catalog.logs.events", None, metrics).state
    'without snapshots'
    """

    table: str
    snapshot_id: int | None
    metrics: PruningMetrics

    @property
    def state(self) -> str:
        """Which state of the table was read, for people."""
        if self.snapshot_id is not None:
            return f"snapshot {self.snapshot_id}"
        return "without snapshots" if self.metrics.data_files.total else "empty"
