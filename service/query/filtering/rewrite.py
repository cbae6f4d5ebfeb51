"""Writes a query's filters and other rewrites into its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.tables.tables import TableFacts, TableName
from service.pruning.predicates.without_equalities import without_equalities
from service.pruning.sql_text.inject import TableSubstitution, inject
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.engine_switches import (
    AGGREGATES_OF_STATISTICS,
    NATIVE_PRUNING,
    PRESERVE_FILTERS,
    PRESERVE_PRUNED_SIDES,
    switched_off,
)
from service.query.filtering.passes.cached_relations import Cached, cached_reads, usable_relations
from service.query.filtering.passes.eliminated_joins import EliminatedJoins, eliminate_joins
from service.query.filtering.passes.native_pruning import is_covered
from service.query.filtering.passes.pins import pins
from service.query.filtering.passes.references import read_references
from service.query.filtering.passes.scan_options import option_records, scan_options
from service.query.filtering.passes.scan_records import referenced_scans, skipped_scans_of
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.unpinned import UnpinnedTables, unpinned
from service.query.filtering.unpinned_references import unpinned_references


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteBounds:
    """Which rewrites are made besides filters, and for how many parallel tasks scans are split.

    `is_verified`: two runs of the query are compared, so it matters which tables may differ in them.
    """

    kinds: frozenset[RewriteKind]
    slots: int
    is_verified: bool = False


def rewritten(
    pruned: PrunedQuery,
    detected: Detected,
    applied: Sequence[AppliedFilter],
    cached: Cached,
    bounds: RewriteBounds,
) -> PrunedQuery:
    """Returns the query with its filters and cached relations in its text; unchanged if it has none.

    If filters may still come, its tables are at least pinned.
    """
    relations = usable_relations(detected, applied, pruned.filters, cached)
    if not applied and not relations and not pruned.late:
        return pruned
    local = {place.reference_end: place for place, _ in relations}
    pinned = pins(detected, applied, local.values())
    joins = _joins(detected, applied, relations, pinned, bounds)
    reads = cached_reads(relations, detected, joins.ends)
    elsewhere = joins.ends | reads.changes.substitutions.keys()
    files = {end: table for end, table in pinned.items() if end not in elsewhere}
    has_options = RewriteKind.READ_OPTIONS in bounds.kinds
    options = scan_options(files, applied, detected, bounds.slots) if has_options else {}
    covers = is_covered(detected, applied, pruned.filters, local.keys())
    is_native_off = bool(applied) and covers and RewriteKind.NATIVE_PRUNING_OFF in bounds.kinds
    filters = _with_filters(files, applied, options, is_native_off=is_native_off)
    sql = inject(detected.parsed, {**filters, **reads.changes.substitutions}, joins.changes.edits)
    return replace(
        pruned,
        sql=sql,
        rewritten_sql=sql,
        pinned_sql=inject(detected.parsed, pinned) if bounds.is_verified else None,
        expanded_sql=detected.parsed.sql if detected.expanded_views else None,
        fingerprints=frozenset(applied_filter.assignment.filter.fingerprint for applied_filter in applied),
        relations={name: place.query.fingerprint for name, place in reads.relations.items()},
        cached_tables={name: str(place.query.rows_of.tables[0]) for name, place in reads.relations.items()},
        properties=_properties(
            is_native_off=is_native_off,
            has_eliminated=bool(joins.ends),
            preserves_filters=bool(reads.relations) and not covers,
        ),
        rewrites=(
            *option_records(options, detected),
            *reads.changes.records,
            *joins.changes.records,
            *(_expansion_record(view, tables) for view, tables in detected.expanded_views.items()),
            *((RewriteRecord(RewriteKind.NATIVE_PRUNING_OFF),) if is_native_off else ()),
        ),
        unpinned=_unpinned(detected, applied, pinned, bounds),
        skipped=skipped_scans_of(applied, local.values(), detected),
        referenced=referenced_scans(detected) if applied else (),
        facts=tuple(detected.facts.values()),
    )


def _joins(
    detected: Detected,
    applied: Sequence[AppliedFilter],
    relations: Cached,
    pinned: Mapping[int, TableSubstitution],
    bounds: RewriteBounds,
) -> EliminatedJoins:
    if RewriteKind.JOIN_ELIMINATED not in bounds.kinds:
        return EliminatedJoins()
    return eliminate_joins(detected, applied, relations, pinned)


def _with_filters(
    files: Mapping[int, TableSubstitution],
    applied: Sequence[AppliedFilter],
    options: Mapping[int, Mapping[str, str]],
    *,
    is_native_off: bool,
) -> Mapping[int, TableSubstitution]:
    """Adds to each table that is read from files its conditions and its read options."""
    filtered: dict[int, TableSubstitution] = {}
    for end, pin in files.items():
        # Filters on one column with the same keys have the same condition.
        found = dict.fromkeys(
            applied_filter.formed.condition for applied_filter in applied if applied_filter.end == end
        )
        conditions = tuple(
            condition if is_native_off else without_equalities(condition) for condition in found
        )
        filtered[end] = replace(pin, conditions=conditions, options=options.get(end, {}))
    return filtered


def _properties(*, is_native_off: bool, has_eliminated: bool, preserves_filters: bool) -> Mapping[str, str]:
    return {
        **switched_off(
            *((NATIVE_PRUNING,) if is_native_off else ()),
            # Without its join, a query may ask only for MAX of some files.
            *((AGGREGATES_OF_STATISTICS,) if has_eliminated else ()),
        ),
        **(PRESERVE_FILTERS if preserves_filters else {}),
        **({} if is_native_off else PRESERVE_PRUNED_SIDES),
    }


def _unpinned(
    detected: Detected,
    applied: Sequence[AppliedFilter],
    pinned: Mapping[int, TableSubstitution],
    bounds: RewriteBounds,
) -> UnpinnedTables:
    filters = (applied_filter.assignment.filter for applied_filter in applied)
    found = unpinned_references(detected.parsed, detected.names, detected.facts, pinned)
    return UnpinnedTables(
        unpinned(filters, detected.facts),
        found if bounds.is_verified else (),
        _read_by_views(detected, pinned),
    )


def _read_by_views(detected: Detected, pins: Mapping[int, TableSubstitution]) -> tuple[TableFacts, ...]:
    """Returns the pinned tables that an unexpanded view may read in their later state."""
    if all(name in detected.facts for name in detected.names.values()):
        return ()
    pinned = (facts for reference, facts in read_references(detected) if reference.end in pins)
    return tuple({facts.name: facts for facts in pinned if facts is not None}.values())


def _expansion_record(view: TableName, tables: Sequence[TableName]) -> RewriteRecord:
    return RewriteRecord(
        RewriteKind.VIEW_EXPANDED, str(view), f"reads {', '.join(map(str, tables)) or 'nothing'}"
    )
