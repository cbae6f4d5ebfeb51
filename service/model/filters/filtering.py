"""Dynamic filters: what may narrow which scan, the keys it was narrowed by, and why one was not applied.

Source: FLIP-248 (`DynamicFilteringData`), Trino's dynamic filter descriptors.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from service.model.filters.key_sample import NO_SAMPLE, KeySample
from service.model.tables.tables import TableName

KeyValue = bool | int | str | Decimal | date | datetime
"""One value of a key column. A key's NULL never stands among the values."""

Key = tuple[KeyValue, ...]
"""One key: a value for each key column, in their order."""

KeyRange = tuple[KeyValue, KeyValue]
"""From one value to another, both inclusive."""


class JoinType(StrEnum):
    """How probe and build are joined, with the probe named first. NONE: by nothing that is looked for."""

    INNER = "INNER"
    LEFT_OUTER = "LEFT_OUTER"
    RIGHT_OUTER = "RIGHT_OUTER"
    LEFT_SEMI = "LEFT_SEMI"
    LEFT_ANTI = "LEFT_ANTI"
    FULL_OUTER = "FULL_OUTER"
    NONE = "NONE"


class Reason(StrEnum):
    """Why a candidate was applied, or why not. Part of the HTTP contract."""

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


class FilterSource(StrEnum):
    """Where a filter's keys came from."""

    CACHED = "CACHED"
    COLLECTED = "COLLECTED"
    NONE = "NONE"


class FilterForm(StrEnum):
    """How the keys stand in the rewritten query. EMPTY: no key matches, so nothing is scanned."""

    NONE = "NONE"
    IN = "IN"
    RANGES = "RANGES"
    EMPTY = "EMPTY"


class KeySpan(StrEnum):
    """Which values of the probe's column one key stands for.

    `DAY` and `DAY_ANYWHERE`: the moments of that day, in UTC (without a zone: as they stand) or in whatever
    zone.
    """

    VALUE = "VALUE"
    DAY = "DAY"
    DAY_ANYWHERE = "DAY_ANYWHERE"


@dataclass(frozen=True, slots=True)
class Probe:
    """The scan that may be narrowed, by its key columns as the table spells them.

    `type_names` are Iceberg's (`int`, `decimal(7, 2)`). `mention` says which mention of a table in the text,
    with its views opened, it is, counted from 1, and `alias` what the table is called there; None and empty
    where it is not one mention that is meant, and in records of former versions.
    """

    table: TableName
    columns: tuple[str, ...]
    type_names: tuple[str, ...]
    snapshot_id: int | None
    alias: str = ""
    mention: int | None = None

    @property
    def known_as(self) -> str:
        """The table, and what the text calls it where that is another name, for people.

        >>> Probe(TableName("lake", "shop", "sales"), ("day",), ("date",), 1, "f", 1).known_as
        'lake.shop.sales AS f'
        """
        is_renamed = self.alias.lower() not in ("", self.table.table.lower())
        return f"{self.table} AS {self.alias}" if is_renamed else str(self.table)


@dataclass(frozen=True, slots=True)
class Build:
    """What the keys are collected from, as people read it; snapshots are in the order of the tables.

    The tables are joined, unless it `is_union`: then the keys of several build sides count.
    """

    tables: tuple[TableName, ...]
    columns: tuple[str, ...]
    predicate: str
    snapshot_ids: tuple[int | None, ...]
    is_union: bool = False


@dataclass(frozen=True, slots=True)
class Feed:
    """The keys of another filter, which `column` of a table in a filtering query has in each of its rows.

    They hold there because that query says so itself: it yields the same with and without them. The filter
    is the one of this `fingerprint`, if the query that all is done for has it.
    """

    fingerprint: str
    alias: str
    column: str
    type_name: str


@dataclass(frozen=True, slots=True)
class DynamicFilter:
    """One filter that may be applied.

    `filtering_query` yields the distinct keys, one column for each probe column, in `key_types` (the probe's,
    if not given), and reads every table at the snapshot in `build`; of the query's named parameters it needs
    `parameter_names`. `fingerprint` is the same for two filters exactly when
    their keys are: the address of the keys in the filter cache. `is_converted`: keys are not the values that
    the build's column has, but what they become; the day of a moment is one, and no moment of that day.
    `is_null_safe`: NULL equals NULL (`<=>`), so the query yields a NULL like any other key.

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
    feeds: tuple[Feed, ...] = ()
    is_null_safe: bool = False

    @property
    def is_cacheable(self) -> bool:
        """Whether the keys stay what they are: every table that they come from is read at a snapshot."""
        return None not in self.build.snapshot_ids

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of the keys as they are collected and cached, in Iceberg's spelling."""
        return self.collected_types or self.probe.type_names


@dataclass(frozen=True, slots=True)
class DynamicFilteringData:
    """The keys of one build side: distinct, sorted; a NULL, which only those of `<=>` have, is told apart.

    `is_filtering` False says that nothing is known and every row may match; then there are no values.
    `exceeds_threshold`: there were too many keys to keep; `ranges`, in order, stand for them if there is one
    key column whose values have an order. `has_null`: rows without a key match too; among too many keys it is
    taken for granted. None of these, yet `is_filtering`: nothing matches.

    Source: FLIP-248, `DynamicFilteringData`.
    """

    values: tuple[Key, ...]
    is_filtering: bool
    exceeds_threshold: bool = False
    ranges: tuple[KeyRange, ...] = ()
    has_null: bool = False

    @property
    def key_count(self) -> int:
        """How many keys are kept one by one, NULL among them."""
        return len(self.values) + self.has_null

    @classmethod
    def not_filtering(cls, exceeds_threshold: bool = False) -> DynamicFilteringData:
        """No filter, as a value."""
        return cls((), is_filtering=False, exceeds_threshold=exceeds_threshold)


@dataclass(frozen=True, slots=True)
class FilterOutcome:
    """What became of collecting one filter's keys. `byte_count` is that of the keys as they are cached.

    `rows_read` is the fingerprint of the relation that came into memory with the keys, from the same reading.
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
        """No keys, for this reason; `note` says why the cache was of no use, if so."""
        return cls(DynamicFilteringData.not_filtering(), FilterSource.NONE, reason, note=note)


@dataclass(frozen=True, slots=True)
class FilterRecord:
    """One candidate of a query, applied or not, as it is recorded and explained.

    A record of the join type NONE is no candidate, but tells why there is none on a mention of a table that
    was read, with the columns that it is joined by, if there are any. `ranges` are inclusive, as text; of a
    composite key, those of its first column. `detail` says in words what a reason with several causes is for.
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
        """Why there is no candidate on a table."""
        probe, build = Probe(table, (), (), snapshot_id), Build((), (), "", ())
        return cls("", JoinType.NONE, probe, build, FilterSource.NONE, FilterForm.NONE, reason)

    @property
    def is_applied(self) -> bool:
        """Whether the scan was narrowed by it."""
        return self.reason is Reason.APPLIED

    @property
    def is_candidate(self) -> bool:
        """Whether it is about a key."""
        return self.join_type is not JoinType.NONE


@dataclass(frozen=True, slots=True)
class ObtainedKeys:
    """A filter's keys, from the filter cache or past it.

    `source` is COLLECTED for the one caller whose collection it was, and CACHED for all others; NONE says
    that there are no keys. `byte_count` is that of the keys as they are cached. `note` says why the cache was
    of no use, if so.
    """

    data: DynamicFilteringData
    source: FilterSource
    byte_count: int
    note: str = ""

    @classmethod
    def none(cls, note: str = "") -> ObtainedKeys:
        """No keys."""
        return cls(DynamicFilteringData.not_filtering(), FilterSource.NONE, 0, note)


@dataclass(frozen=True, slots=True)
class CachedFilter:
    """One entry of the filter cache, as people read it. `columns` are the build side's keys.

    `form` says as what the keys are cached: IN is a set. An entry of a former version has an empty `sample`.
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
