"""How the rows of a table lie in its files: what each file says about itself, and a sample of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from service.model.tables.tables import PartitionField, TableName

LayoutValue: TypeAlias = int | str | Decimal
"""A value as Iceberg holds it: dates are days since 1970, and timestamps are microseconds."""


@dataclass(frozen=True, slots=True)
class FileBounds:
    """The least and the greatest value of a column in a file, or looser ones."""

    lower: LayoutValue
    upper: LayoutValue


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutFile:
    """One data file. Two files with equal `partition` texts are in one partition.

    `bounds` lacks a column whose values are not known. A column in `without_values` is NULL in each row.
    """

    byte_count: int
    record_count: int
    path: str = ""
    partition: str = ""
    row_group_count: int = 1
    bounds: Mapping[str, FileBounds] = field(default_factory=dict)
    without_values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RowSample:
    """Rows of some files, spread evenly over each of them, in the order of these files and their rows.

    `file_numbers` has each row's place in `TableLayout.files`. `columns` are as long.
    """

    file_numbers: Sequence[int] = ()
    columns: Mapping[str, Sequence[LayoutValue | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """The data files of a table's current snapshot.

    `column_types` has the columns that were asked for and whose values can be compared, with Iceberg's names
    of their types. `is_simulated` is False if the partition spec hides which files a condition selects, as
    buckets do. `text_bounds` has how many characters of a column's texts the bounds of new files have, where
    they do not have all. `has_deletes`: files of deletes apply to some of the data files.
    """

    table: TableName
    snapshot_id: int | None
    files: Sequence[LayoutFile]
    sample: RowSample
    column_types: Mapping[str, str]
    partition_fields: Sequence[PartitionField] = ()
    target_file_bytes: int
    bloom_filter_columns: Sequence[str] = ()
    text_bounds: Mapping[str, int] = field(default_factory=dict)
    is_simulated: bool = True
    has_deletes: bool = False

    @property
    def byte_count(self) -> int:
        """The bytes of all data files."""
        return sum(file.byte_count for file in self.files)

    @property
    def record_count(self) -> int:
        """The rows of all data files."""
        return sum(file.record_count for file in self.files)
