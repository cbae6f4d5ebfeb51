"""Dynamic filters: which scan may be filtered by what, the keys, and why a filter was not applied.

Source: FLIP-248 (`DynamicFilteringData`), Trino's dynamic filter descriptors.
"""

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


class JoinType(StrEnum):
    """The join of probe and build, with the probe named first; NONE: no join that is supported."""

    INNER = "INNER"
    LEFT_OUTER = "LEFT_OUTER"
    RIGHT_OUTER = "RIGHT_OUTER"
    LEFT_SEMI = "LEFT_SEMI"
    LEFT_ANTI = "LEFT_ANTI"
    FULL_OUTER = "FULL_OUTER"
    NONE = "NONE"


class Reason(StrEnum):
    """The reason why a candidate was applied, or why not; part of the HTTP contract."""

    APPLIED = "APPLIED"
    DISABLED = "DISABLED"
    NOT_A_QUERY = "NOT_A_QUERY"
    TOO_COMPLEX = "TOO_COMPLEX"
    NO_EQUI_JOIN = "NO_EQUI_JOIN"
    BUILD_HAS_NO_FILTER = "BUILD_HAS_NO_FILTER"
    BUILD_NOT_DETERMINISTIC = "BUILD_NOT_DETERMINISTIC"
    PROBE_NOT_PRUNABLE = "PROBE_NOT_PRUNABLE"
    PROBE_IS_PRESERVED_SIDE = "PROBE_IS_PRESERVED_SIDE"
    ANTI_JOIN = "ANTI_JOIN"
    KEY_IS_COMPUTED = "KEY_IS_COMPUTED"
    TYPE_NOT_CONVERTIBLE = "TYPE_NOT_CONVERTIBLE"
    NOT_SELECTIVE = "NOT_SELECTIVE"
    NOT_WORTH_COLLECTING = "NOT_WORTH_COLLECTING"
    RANGES_ONLY = "RANGES_ONLY"
    THRESHOLD_EXCEEDED = "THRESHOLD_EXCEEDED"
    COLLECT_TIMED_OUT = "COLLECT_TIMED_OUT"
    COLLECT_FAILED = "COLLECT_FAILED"
    SNAPSHOT_MOVED = "SNAPSHOT_MOVED"
    REWRITE_REJECTED = "REWRITE_REJECTED"
    SOURCE_NOT_SUPPORTED = "SOURCE_NOT_SUPPORTED"
    SESSION_SETTING = "SESSION_SETTING"
    SESSION_VIEW = "SESSION_VIEW"


class FilterSource(StrEnum):
    """The source of a filter's keys.

    CARRIED_OVER: keys of an earlier snapshot that were cached, with those of the files added since.
    """

    CACHED = "CACHED"
    COLLECTED = "COLLECTED"
    CARRIED_OVER = "CARRIED_OVER"
    NONE = "NONE"


class FilterForm(StrEnum):
    """The form of the keys in the rewritten query; EMPTY: no key matches, so nothing is scanned."""

    NONE = "NONE"
    IN = "IN"
    RANGES = "RANGES"
    EMPTY = "EMPTY"


class KeySpan(StrEnum):
    """The values of the probe's column that one key covers.

    `DAY` covers the moments of that day in UTC; moments without a zone are taken as they stand.
    `DAY_ANYWHERE` covers the moments of that day in any zone.
    """

    VALUE = "VALUE"
    DAY = "DAY"
    DAY_ANYWHERE = "DAY_ANYWHERE"


@dataclass(frozen=True, slots=True)
class Probe:
    """The scan that may be pruned, with its key columns as the table spells them.

    `type_names` are Iceberg's (`int`, `decimal(7, 2)`). `table_reference` is the ordinal of the table
    reference in the text with its views expanded, counted from 1; `alias` is the table's name there. They are
    None and empty where no single table reference applies, and in records of earlier versions.
    """

    table: TableName
    columns: tuple[str, ...]
    type_names: tuple[str, ...]
    snapshot_id: int | None
    alias: str = ""
    table_reference: int | None = None

    @property
    def known_as(self) -> str:
        """The table, and the text's name for it where that is another one, for people.

        >>> Probe(TableName("lake", "shop", "sales"), ("day",), ("date",), 1, "f", 1).known_as
        'lake.shop.sales AS f'
        """
        is_renamed = self.alias.lower() not in ("", self.table.table.lower())
        return f"{self.table} AS {self.alias}" if is_renamed else str(self.table)


@dataclass(frozen=True, slots=True)
class Build:
    """The tables that the keys are collected from, for people; snapshots are in the order of the tables.

    The tables are joined, unless `is_union`: then the keys of several build sides are combined.
    `is_restricted`: policies hide rows or values of a table, so only the engine may read it.
    """

    tables: tuple[TableName, ...]
    columns: tuple[str, ...]
    predicate: str
    snapshot_ids: tuple[int | None, ...]
    is_union: bool = False
    is_restricted: bool = False

    @property
    def snapshots(self) -> Mapping[TableName, int] | None:
        """The snapshot of each table; None if a table has none, or is read at several."""
        found = dict(zip(self.tables, self.snapshot_ids, strict=True))
        of_all = {table: at for table, at in found.items() if at is not None}
        are_clear = len(set(zip(self.tables, self.snapshot_ids, strict=True))) == len(of_all)
        return of_all if are_clear else None


@dataclass(frozen=True, slots=True)
class KeyDependency:
    """The keys of another filter that hold for `column` of a table in a filtering query.

    Every row of that query already has such a key, so the query yields the same with and without them. The
    other filter is the one with this `fingerprint`, if the caller's query has it.
    """

    fingerprint: str
    alias: str
    column: str
    type_name: str


@dataclass(frozen=True, slots=True)
class DynamicFilter:
    """One filter that may be applied.

    `filtering_query` yields the distinct keys, one column for each probe column, in `key_types` (the probe's,
    if not given). It reads every table at the snapshot in `build`, and needs `parameter_names` of the query's
    named parameters.

    `fingerprint` is the same for two filters exactly when their keys are: it is the address of the keys in
    the filter cache. `is_converted`: the keys are not the build column's own values, but converted ones; for
    example, a key is the day of a moment, not a moment of that day. `is_null_safe`: NULL equals NULL (`<=>`),
    so the query yields a NULL like any other key. `series` is the fingerprint without the snapshots: filters
    of one series ask for the same keys at different times. Empty: the filter is of none.

    Source: Trino's `DynamicFilterService.Descriptor`, Spark's `filteringPlan`.
    """

    filter_id: str
    join_type: JoinType
    probe: Probe
    build: Build
    filtering_query: str
    fingerprint: str
    parameter_names: frozenset[str] = frozenset()
    collected_types: tuple[str, ...] = ()
    span: KeySpan = KeySpan.VALUE
    is_converted: bool = False
    key_dependencies: tuple[KeyDependency, ...] = ()
    is_null_safe: bool = False
    series: str = ""

    @property
    def is_cacheable(self) -> bool:
        """Whether the keys can never change: every table that they come from is read at a snapshot."""
        return None not in self.build.snapshot_ids

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of the keys as they are collected and cached, in Iceberg's spelling."""
        return self.collected_types or self.probe.type_names


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
class FilterOutcome:
    """The outcome of collecting one filter's keys; `byte_count` is that of the keys as they are cached.

    `rows_read` is the fingerprint of the relation that was loaded into memory with the keys, by the same
    query.
    """

    data: DynamicFilteringData
    source: FilterSource
    reason: Reason
    collection_ms: int = 0
    byte_count: int = 0
    note: str = ""
    rows_read: str = ""

    @classmethod
    def none(cls, reason: Reason, note: str = "") -> FilterOutcome:
        """Returns an outcome without keys, for this reason; `note` says why the cache did not help, if so."""
        return cls(DynamicFilteringData.not_filtering(), FilterSource.NONE, reason, note=note)


@dataclass(frozen=True, slots=True)
class FilterRecord:
    """One candidate of a query, applied or not, as it is recorded and explained.

    A record of the join type NONE is not a candidate. It says why a table reference that was read has none,
    and names the columns that it is joined by, if there are any. `ranges` are inclusive, as text; for a
    composite key they are those of its first column. `detail` explains a reason that has several causes.
    """

    filter_id: str
    join_type: JoinType
    probe: Probe
    build: Build
    source: FilterSource
    form: FilterForm
    reason: Reason
    value_count: int = 0
    byte_count: int = 0
    ranges: tuple[tuple[str, str], ...] = ()
    exceeds_threshold: bool = False
    collection_ms: int = 0
    cache_note: str = ""
    detail: str = ""

    @classmethod
    def none_on(cls, table: TableName, snapshot_id: int | None, reason: Reason) -> FilterRecord:
        """Returns a record that says why a table has no candidate."""
        probe, build = Probe(table, (), (), snapshot_id), Build((), (), "", ())
        return cls("", JoinType.NONE, probe, build, FilterSource.NONE, FilterForm.NONE, reason)

    @property
    def is_applied(self) -> bool:
        """Whether the scan was filtered by it."""
        return self.reason is Reason.APPLIED

    @property
    def is_candidate(self) -> bool:
        """Whether the record describes a candidate, not the lack of one."""
        return self.join_type is not JoinType.NONE


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
