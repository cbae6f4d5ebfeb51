"""What the files of a table hold in one column, as far as their metadata tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from service.model.filters.file_sizes import FileSizes
from service.model.filters.filtering import KeyValue


class NotKnown(Enum):
    """Why nothing is known of what a column holds."""

    PENDING = "its manifests are still being read"
    UNAVAILABLE = "the metadata of its files does not say"


@dataclass(frozen=True, slots=True)
class FileOverlap:
    """How many of a column's files share values with another one: their bounds overlap."""

    overlapping: int
    files: int


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What reads of one snapshot can find in a column, NULL aside. True of that snapshot alone.

    `is_pinned` is False where a read may find other values: in a table without snapshots, of which this is
    what was listed last; where some files have no bounds, or only a sample of the files was looked at; and
    where this is what an earlier snapshot held (`is_current` is False) while the manifests of this one are
    read. Then it tells what a filter leaves out, and never which keys it need not ask for. Only a listing
    tells whether it `has_null`.

    `values`: every value, sorted, when the metadata tells them all; there may be fewer in the rows, never
    others. `lower` and `upper`: no value lies outside; None when there is no value. `is_tight`: a value lies
    in so few files that a filter on the column leaves most of them out. `sizes`: how large the files are with
    which values; None where the metadata of single files was not read. `overlap` is counted where the column
    is not tight.
    """

    values: tuple[KeyValue, ...] | None
    lower: KeyValue | None
    upper: KeyValue | None
    is_tight: bool
    sizes: FileSizes | None = field(default=None, compare=False, repr=False)
    is_pinned: bool = field(default=True, repr=False)
    has_null: bool = field(default=False, repr=False)
    is_current: bool = field(default=True, repr=False)
    overlap: FileOverlap | None = field(default=None, compare=False, repr=False)
