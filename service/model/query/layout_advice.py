"""Other layouts of a table, and the bytes that they would save recorded queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.model.tables.tables import TableName


class AdviceKind(StrEnum):
    """The part of a layout that would change."""

    PARTITION = "PARTITION"
    SORT = "SORT"
    BLOOM_FILTER = "BLOOM_FILTER"
    FILE_SIZE = "FILE_SIZE"
    COMPACTION = "COMPACTION"


@dataclass(frozen=True, slots=True)
class ReadAmount:
    """Data files that the scans of the workload select together, and their bytes."""

    file_count: int
    byte_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutAdvice:
    """One change of the layout.

    `before` and `after` are simulated on the files of now in the same way. Bloom filters select row groups
    within files: theirs are bytes of row groups. `statements` make the change in Spark SQL, in this order.
    `file_bytes` is the size that files get, and `transform` that of the partition field, where they change.
    `is_size_predicted`: `after` knows how well rows compress after the change. Otherwise they are taken to
    need as much space as now.
    """

    kind: AdviceKind
    reason: str
    columns: tuple[str, ...]
    before: ReadAmount
    after: ReadAmount
    statements: tuple[str, ...]
    file_bytes: int | None = None
    transform: str | None = None
    is_size_predicted: bool = False

    @property
    def saved_bytes(self) -> int:
        """The bytes that the workload would not read any more; negative if it would read more."""
        return self.before.byte_count - self.after.byte_count

    @property
    def saved_share(self) -> float:
        """These bytes as a share of all bytes that it reads now."""
        return self.saved_bytes / self.before.byte_count if self.before.byte_count else 0.0


@dataclass(frozen=True, slots=True)
class FilteredColumn:
    """A column that the workload's scans were filtered by.

    `scan_count` are the scans that were, `equality_count` those of them that looked for single values.
    """

    column: str
    scan_count: int
    equality_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedWorkload:
    """The recorded scans that advice is about.

    `scan_count` scans are simulated. `unexplained_count` others were pruned in a way that was not recorded,
    and are left out. `recorded` is what the simulated scans read when they ran.
    """

    since: datetime
    scan_count: int
    unexplained_count: int
    recorded: ReadAmount
    filtered_columns: Sequence[FilteredColumn]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAdvice:
    """Advice for one table, what saves most first.

    `simulated` is what the workload would read of the files of now. It differs from what was recorded as far
    as the table has changed since. `notes` name whatever was left out, with the reason.
    """

    table: TableName
    snapshot_id: int | None
    workload: RecordedWorkload
    simulated: ReadAmount
    file_count: int
    byte_count: int
    sampled_rows: int
    advice: Sequence[LayoutAdvice]
    notes: Sequence[str] = ()
