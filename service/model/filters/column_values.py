"""The values that a table's files hold in one column, as far as their metadata shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from service.model.filters.file_sizes import FileSizes
from service.model.filters.key_set import KeyValue


class NotKnown(Enum):
    """The reason why nothing is known about the values of a column."""

    PENDING = "its manifests are still being read"
    UNAVAILABLE = "the metadata of its files does not say"


@dataclass(frozen=True, slots=True)
class FileOverlap:
    """The number of files whose bounds in a column overlap those of another file."""

    overlapping: int
    files: int


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values other than NULL that reads of one snapshot can find in a column.

    They are true only of that snapshot. `is_pinned` is False where a read may find other values:

    - The table has no snapshots; these are the values of its last listing.
    - Some files have no bounds, or only a sample of the files was examined.
    - These are the values of an earlier snapshot (`is_current` is False), while the manifests of this one are
      read.

    Then the values can show which files a filter skips, but never which keys it can leave out. Only a listing
    shows whether the column `has_null`.

    `values`: every value, sorted, when the metadata lists them all. The rows may hold fewer values, never
    others. `lower` and `upper`: no value lies outside; None when there is no value. `is_clustered`: each
    value lies in so few files that a filter on the column skips most of them. `sizes`: how large the files
    are that hold certain values; None where the metadata of single files was not read. `overlap` is counted
    where the column is not clustered.
    """

    values: tuple[KeyValue, ...] | None
    lower: KeyValue | None
    upper: KeyValue | None
    is_clustered: bool
    sizes: FileSizes | None = field(default=None, compare=False, repr=False)
    is_pinned: bool = field(default=True, repr=False)
    has_null: bool = field(default=False, repr=False)
    is_current: bool = field(default=True, repr=False)
    overlap: FileOverlap | None = field(default=None, compare=False, repr=False)
