"""The result of pruning a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from service.model.filters.filter_record import FilterOutcome, FilterRecord, Reason
from service.model.filters.key_set import FilterForm
from service.model.query.rewrites import RewriteRecord
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.tables.sql import ReferenceLabel
from service.model.tables.tables import TableFacts
from service.ports.engine.late_filters import LateUse
from service.ports.engine.tuple_filters import TupleFilter
from service.pruning.detection import FilterAssignment
from service.pruning.predicates.predicate import FormedPredicate
from service.query.filtering.late_keys import LateKeys, with_uses
from service.query.filtering.unpinned import UnpinnedTables


@dataclass(frozen=True, slots=True)
class PrunedQuery:
    """The text to run, and the outcome of each candidate. Without a filter it is the caller's own text.

    A table reference without a candidate in `filters` has its reason in `unfiltered`; a table that is in
    neither has the reason `otherwise`. `expanded_sql` is the caller's text with its views expanded, if there
    are any; `pinned_sql` reads the same snapshots as `rewritten_sql`, without a filter, if the rows of both
    are compared. `skipped` are the scans that an empty set or cached rows made unnecessary, as 0 of their
    total. `referenced` are all tables of a pruned text in that form, as filters may make more scans
    unnecessary. `relations` and `properties` are what the rewritten text needs of the engine; `cached_tables`
    are the tables of these relations. The rows are right only if the `unpinned` tables have not changed when
    the rows are there. `facts` are those of the tables that a rewritten text was made from. `late` are
    filters whose keys may come while it runs. `tuples` are the keys that scans of the rewritten text may
    compare with their files.
    """

    sql: str
    rewritten_sql: str | None = None
    pinned_sql: str | None = None
    expanded_sql: str | None = None
    filters: tuple[FilterRecord, ...] = ()
    unfiltered: tuple[FilterRecord, ...] = ()
    otherwise: Reason = Reason.SOURCE_NOT_SUPPORTED
    fingerprints: frozenset[str] = frozenset()
    skipped: tuple[ScanRecord, ...] = ()
    referenced: tuple[ScanRecord, ...] = ()
    relations: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    cached_tables: Mapping[str, str] = field(default_factory=dict)
    rewrites: tuple[RewriteRecord, ...] = ()
    unpinned: UnpinnedTables = field(default_factory=UnpinnedTables)
    parse_ms: int = 0
    detect_ms: int = 0
    filters_ms: int = 0
    facts: tuple[TableFacts, ...] = ()
    late: tuple[LateKeys, ...] = ()
    tuples: tuple[TupleFilter, ...] = ()

    def with_late(self, uses: Mapping[str, LateUse]) -> PrunedQuery:
        """Returns the query after a run, with what became of its late filters."""
        if not uses:
            return self
        used = {keys.fingerprint for keys in self.late if uses.get(keys.filter.filter_id) is LateUse.USED}
        filters = with_uses(self.filters, self.late, uses)
        return replace(self, filters=filters, fingerprints=self.fingerprints | used)

    def with_tuples(self, used: frozenset[str]) -> PrunedQuery:
        """Returns the query after a run whose scans have chosen their files by the keys of these filters."""
        if not used:
            return self
        filters = (
            replace(record, detail=_with_tuples(record)) if record.filter_id in used else record
            for record in self.filters
        )
        return replace(self, filters=tuple(filters))

    def as_written(self, sql: str, reason: Reason = Reason.REWRITE_REJECTED) -> PrunedQuery:
        """Returns the query unpruned, after the engine rejected the text or its rows were unusable."""
        filters = (
            replace(filter_, reason=reason) if filter_.is_applied else filter_ for filter_ in self.filters
        )
        return PrunedQuery(
            sql,
            filters=tuple(filters),
            unfiltered=self.unfiltered,
            otherwise=self.otherwise,
            parse_ms=self.parse_ms,
            detect_ms=self.detect_ms,
            filters_ms=self.filters_ms,
        )


def filter_record(
    assignment: FilterAssignment,
    outcome: FilterOutcome,
    formed: FormedPredicate | None = None,
    table_reference: ReferenceLabel | None = None,
) -> FilterRecord:
    """Returns the record of a filter: applied in this form, or not, for the outcome's reason."""
    found = assignment.filter
    return FilterRecord(
        filter_id=found.filter_id,
        join_type=found.join_type,
        probe=found.probe
        if table_reference is None
        else replace(found.probe, alias=table_reference.alias, table_reference=table_reference.number),
        build=found.build,
        source=outcome.source,
        form=FilterForm.NONE if formed is None else formed.form,
        reason=outcome.reason if formed is None else Reason.APPLIED,
        value_count=outcome.data.key_count,
        byte_count=outcome.byte_count,
        ranges=() if formed is None else tuple((str(low), str(high)) for low, high in formed.ranges),
        exceeds_threshold=outcome.data.exceeds_threshold,
        collection_ms=outcome.collection_ms,
        cache_note=outcome.note,
        detail=outcome.detail,
    )


def _with_tuples(record: FilterRecord) -> str:
    """Returns the record's detail, and how files were chosen."""
    chosen = f"files were chosen by {record.value_count:,} tuples in memory"
    return f"{record.detail}; {chosen}" if record.detail else chosen


def skipped_scan(table: TableFacts) -> ScanRecord:
    """Returns a scan that did not run; counts that only the engine knows are 0 of 0 until it is asked."""
    nothing = Selection(0, 0)
    return ScanRecord(
        table=str(table.name),
        snapshot_id=table.snapshot_id,
        metrics=PruningMetrics(
            partitions=nothing,
            manifests=nothing,
            data_files=Selection(table.data_file_count, 0),
            bytes=Selection(table.total_bytes, 0),
            rows=Selection(table.record_count, 0),
            planning_ms=0,
        ),
        has_run=False,
    )
