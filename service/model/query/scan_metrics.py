"""Scan metrics: always *selected of total*."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.query.scan_predicates import ScanPredicate


@dataclass(frozen=True, slots=True)
class Selection:
    """The number of a level's units that were selected, and of all its units."""

    total: int
    selected: int


@dataclass(frozen=True, slots=True)
class PruningMetrics:
    """One scan, level by level; bytes are those of data files, rows are those that left the scan.

    `row_groups` are those of Parquet files. Readers select them by statistics, dictionaries and bloom
    filters. None: it is not known of all files.

    Source: Iceberg's `ScanMetrics`, and the tasks that the scan really ran.
    """

    partitions: Selection
    manifests: Selection
    data_files: Selection
    bytes: Selection
    rows: Selection
    planning_ms: int
    row_groups: Selection | None = None

    def unread(self) -> PruningMetrics:
        """Returns the same totals with nothing selected."""
        return PruningMetrics(
            partitions=Selection(self.partitions.total, 0),
            manifests=Selection(self.manifests.total, 0),
            data_files=Selection(self.data_files.total, 0),
            bytes=Selection(self.bytes.total, 0),
            rows=Selection(self.rows.total, 0),
            planning_ms=self.planning_ms,
            row_groups=None if self.row_groups is None else Selection(self.row_groups.total, 0),
        )


@dataclass(frozen=True, slots=True)
class ScanRecord:
    """One scan of one table at one snapshot; None: the table is empty, or has no snapshots.

    `has_run` is False where the scan was not needed, or the query ended before it; then nothing is selected.
    `is_native`: Spark pruned the scan by keys that it found while the query ran; None when the scan was only
    planned, or this is unknown. `columns` are those that the scan reads, if known; of very many, only the
    first. `predicates` are what its files were selected by, at most one for each column; all of them hold.
    `files_left_out` is how many files these predicates select that the scan did not plan all the same:
    readers had noted before that the same filter selects none of their row groups.

    >>> nothing, files = Selection(0, 0), Selection(9, 1)
    >>> metrics = PruningMetrics(files, nothing, files, files, files, planning_ms=0)
    >>> ScanRecord("spark_catalog.logs.events", None, metrics).state
    'without snapshots'
    """

    table: str
    snapshot_id: int | None
    metrics: PruningMetrics
    has_run: bool = True
    is_native: bool | None = False
    columns: tuple[str, ...] = ()
    predicates: tuple[ScanPredicate, ...] = ()
    files_left_out: int = 0

    @property
    def state(self) -> str:
        """The state of the table that was read, for people."""
        if self.snapshot_id is not None:
            return f"snapshot {self.snapshot_id}"
        return "without snapshots" if self.metrics.data_files.total else "empty"
