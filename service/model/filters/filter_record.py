"""The record of a filter, as an explanation shows it, and the reasons in it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum

from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.key_set import DynamicFilteringData, FilterForm, FilterSource
from service.model.tables.tables import TableName


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
    ARRIVED_TOO_LATE = "ARRIVED_TOO_LATE"
    SNAPSHOT_MOVED = "SNAPSHOT_MOVED"
    REWRITE_REJECTED = "REWRITE_REJECTED"
    SOURCE_NOT_SUPPORTED = "SOURCE_NOT_SUPPORTED"
    SESSION_SETTING = "SESSION_SETTING"
    SESSION_VIEW = "SESSION_VIEW"


@dataclass(frozen=True, slots=True)
class FilterOutcome:
    """The outcome of collecting one filter's keys; `byte_count` is that of the keys as they are cached.

    `rows_read` is the fingerprint of the relation that was loaded into memory with the keys, by the same
    query. `detail` says where the keys were found, if not in a place of their own. `later` resolves with the
    outcome of a collection that goes on after the query has stopped waiting for it; None: none does.
    """

    data: DynamicFilteringData
    source: FilterSource
    reason: Reason
    collection_ms: int = 0
    byte_count: int = 0
    note: str = ""
    rows_read: str = ""
    detail: str = ""
    later: Future[FilterOutcome | None] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def none(cls, reason: Reason, note: str = "") -> FilterOutcome:
        """Returns an outcome without keys, for this reason; `note` says why the cache did not help, if so."""
        return cls(DynamicFilteringData.not_filtering(), FilterSource.NONE, reason, note=note)


@dataclass(frozen=True, slots=True)
class FilterRecord:
    """One candidate of a query, applied or not, as it is recorded and explained.

    A record of the join type NONE is not a candidate. It says why a table reference that was read has none,
    and names the columns that it is joined by, if there are any. `ranges` are inclusive, as text; for a
    composite key they are those of its first column. `detail` explains a reason that has several causes, or
    the source CONTAINED, or how the filter chose files.
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
