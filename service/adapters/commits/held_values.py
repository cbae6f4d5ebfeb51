"""What a file may hold in one column, as far as its metadata says."""

from __future__ import annotations

from dataclasses import dataclass

from pyiceberg.manifest import DataFile
from pyiceberg.types import NestedField

from service.adapters.probe_values.file_interval import Interval, NoInterval, file_interval


@dataclass(frozen=True, slots=True)
class HeldValues:
    """The values lie within `interval`, and NULL is not among them unless `has_nulls`."""

    interval: Interval | NoInterval
    has_nulls: bool

    @staticmethod
    def of(file: DataFile, field: NestedField) -> HeldValues:
        """What the file's metadata says of a top-level column; of what it does not say, anything."""
        null_count = (file.null_value_counts or {}).get(field.field_id)
        interval = file_interval(file, field, None)
        if interval is NoInterval.NO_VALUE and (
            null_count != file.record_count or field.initial_default is not None
        ):
            # Files from before the column was added have its default in every row.
            interval = NoInterval.UNKNOWN
        return HeldValues(interval, null_count != 0)

    @staticmethod
    def anything() -> HeldValues:
        """What nothing is known of."""
        return HeldValues(NoInterval.UNKNOWN, has_nulls=True)

    def may_share(self, other: HeldValues) -> bool:
        """Whether one value may be in both; NULL is a value as any other, as in equality deletes."""
        return (self.has_nulls and other.has_nulls) or _overlap(self.interval, other.interval)


def _overlap(one: Interval | NoInterval, other: Interval | NoInterval) -> bool:
    if one is NoInterval.NO_VALUE or other is NoInterval.NO_VALUE:
        return False
    if isinstance(one, NoInterval) or isinstance(other, NoInterval):
        return True
    (least, greatest), (other_least, other_greatest) = one, other
    # Both are of the column's present type, so they can be compared.
    return bool(least <= other_greatest and other_least <= greatest)  # type: ignore[operator]
