"""What the files of a table hold in one column, as far as their metadata tells."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.model.file_sizes import FileSizes
from service.model.filtering import KeyValue


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What reads of one snapshot can find in a column, NULL aside. True of that snapshot alone.

    Of a table without snapshots it is what was listed last (`is_pinned` is False). A read may find other
    values by then: so these tell what a filter leaves out, and never which keys it need not ask for. Only
    such a listing tells whether it `has_null`.

    `values`: every value, sorted, when the metadata tells them all; there may be fewer in the rows, never
    others. `lower` and `upper`: no value lies outside; None when there is no value. `is_tight`: a value lies
    in so few files that a filter on the column leaves most of them out. `sizes`: how large the files are with
    which values; None where the metadata of single files was not read.
    """

    values: tuple[KeyValue, ...] | None
    lower: KeyValue | None
    upper: KeyValue | None
    is_tight: bool
    sizes: FileSizes | None = field(default=None, compare=False, repr=False)
    is_pinned: bool = field(default=True, repr=False)
    has_null: bool = field(default=False, repr=False)
