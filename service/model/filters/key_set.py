"""The keys of a build side, their form in a query, and where they were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from service.model.filters.key_sample import NO_SAMPLE, KeySample
from service.model.tables.tables import TableName

KeyValue = bool | int | str | Decimal | date | datetime
"""One value of a key column; NULL is never among the values."""


Key = tuple[KeyValue, ...]
"""One key: a value for each key column, in their order."""


KeyRange = tuple[KeyValue, KeyValue]
"""From one value to another, both inclusive."""


class FilterSource(StrEnum):
    """The source of a filter's keys.

    CARRIED_OVER: keys of an earlier snapshot that were cached, with those of the files added since.
    CONTAINED: keys found in the kept rows of a cached set with wider conditions.
    ARRIVED_LATE: keys that came after the query had begun, and before the scan had.
    """

    CACHED = "CACHED"
    COLLECTED = "COLLECTED"
    CARRIED_OVER = "CARRIED_OVER"
    CONTAINED = "CONTAINED"
    ARRIVED_LATE = "ARRIVED_LATE"
    NONE = "NONE"


class FilterForm(StrEnum):
    """The form of the keys in the rewritten query; EMPTY: no key matches, so nothing is scanned."""

    NONE = "NONE"
    IN = "IN"
    RANGES = "RANGES"
    EMPTY = "EMPTY"


@dataclass(frozen=True, slots=True)
class DynamicFilteringData:
    """The keys of one build side: distinct and sorted; NULL, which only keys of `<=>` include, is kept apart.

    `is_filtering` is False when nothing is known and every row may match; then there are no values.
    `exceeds_threshold`: there were too many keys to keep. If there is one key column whose values have an
    order, `ranges` cover them in order. `has_null`: rows without a key match too; with too many keys it is
    assumed. If `is_filtering` is True and all of these are empty, nothing matches.

    Source: FLIP-248, `DynamicFilteringData`.
    """

    values: tuple[Key, ...]
    is_filtering: bool
    exceeds_threshold: bool = False
    ranges: tuple[KeyRange, ...] = ()
    has_null: bool = False

    @property
    def key_count(self) -> int:
        """The number of keys that are kept one by one, including NULL."""
        return len(self.values) + self.has_null

    @classmethod
    def not_filtering(cls, exceeds_threshold: bool = False) -> DynamicFilteringData:
        """Returns the value that filters nothing."""
        return cls((), is_filtering=False, exceeds_threshold=exceeds_threshold)


@dataclass(frozen=True, slots=True)
class EarlierKeys:
    """The keys of an earlier filter of a series, and the snapshots that its build tables were read at."""

    fingerprint: str
    data: DynamicFilteringData
    snapshots: Mapping[TableName, int]


@dataclass(frozen=True, slots=True)
class ObtainedKeys:
    """A filter's keys, from the filter cache or collected without it.

    `source` is COLLECTED for the one caller whose collection it was, and CACHED for all others; NONE means
    that there are no keys. `byte_count` is that of the keys as they are cached. `note` says why the cache did
    not help, if so.
    """

    data: DynamicFilteringData
    source: FilterSource
    byte_count: int
    note: str = ""

    @classmethod
    def none(cls, note: str = "") -> ObtainedKeys:
        """Returns a value without keys."""
        return cls(DynamicFilteringData.not_filtering(), FilterSource.NONE, 0, note)


@dataclass(frozen=True, slots=True)
class CachedFilter:
    """One entry of the filter cache, for people; `columns` are the build side's keys.

    `form` is the form in which the keys are cached: IN is a set. An entry of an earlier version has an empty
    `sample`.
    """

    fingerprint: str
    tables: tuple[TableName, ...]
    columns: tuple[str, ...]
    predicate: str
    snapshot_ids: tuple[int | None, ...]
    value_count: int
    byte_count: int
    created_at: datetime
    expires_at: datetime
    exceeds_threshold: bool
    form: FilterForm
    range_count: int = 0
    has_null: bool = False
    sample: KeySample = NO_SAMPLE
