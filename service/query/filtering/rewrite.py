"""Writes a query's filters and other rewrites into its text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from service.model.filters.file_sizes import WHOLE, FileShare
from service.model.filters.filtering import FilterForm, FilterRecord
from service.model.filters.relations import CachedRelation
from service.model.query.pruning import ScanRecord
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.tables.sql import TableReference
from service.model.tables.tables import TableFacts, TableName, TableSource
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.predicates.without_equalities import without_equalities
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.scan_layout.covers_native_pruning import covers_native_pruning
from service.pruning.scan_layout.read_options import read_options
from service.pruning.sql_text.inject import TableSubstitution, inject
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detections import Detected
from service.query.filtering.eliminated_joins import EliminatedJoin, eliminated_joins
from service.query.filtering.engine_switches import (
    AGGREGATES_OF_STATISTICS,
    KEEPS_FILTERS,
    KEEPS_PRUNED_SIDES,
    NATIVE_PRUNING,
    switched_off,
)
from service.query.filtering.pruned_query import PrunedQuery, skipped_scan
from service.query.filtering.unpinned import UnpinnedTables, unpinned
from service.query.filtering.unpinned_references import UnpinnedReference, unpinned_references


@dataclass(frozen=True, slots=True)
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
    held: Sequence[tuple[RelationAssignment, CachedRelation]],
    bounds: RewriteBounds,
) -> PrunedQuery:
    """Returns the query with its filters, relations and read options in its text; unchanged if it has none.

    A filtered table is read from its files, even if its rows are in memory.
    """
    filtered_ends = {each.end for each in applied}
    local = {
        place.reference_end: place
        for place, rows in held
        if place.reference_end not in filtered_ends and _is_worth_a_place(rows, detected)
    }
    if local and _folds_values(detected) and not _is_covered(detected, applied, pruned.filters, local.keys()):
        local = {}
    if not applied and not local:
        return pruned
    pins = _pins(detected, _pinned_tables(applied, local.values()) | _others_pinned(detected))
    eliminated = _eliminated(
        detected, applied, [each for each in held if each[0] in local.values()], pins, bounds
    )
    gone = {each.end for each in eliminated}
    names = _names_of(local, detected.parsed.sql, gone)
    substitutions = {end: each for end, each in pins.items() if end not in gone | names.keys()}
    options = _options(substitutions, applied, detected, bounds)
    is_covered = _is_covered(detected, applied, pruned.filters, local.keys())
    is_native_off = bool(applied) and is_covered and RewriteKind.NATIVE_PRUNING_OFF in bounds.kinds
    for end, pin in substitutions.items():
        # Filters of one column with the same keys have the same condition.
        found = dict.fromkeys(each.formed.condition for each in applied if each.end == end)
        conditions = tuple(each if is_native_off else without_equalities(each) for each in found)
        substitutions[end] = replace(pin, conditions=conditions, options=options.get(end, {}))
    substitutions |= {end: TableSubstitution(None, relation=name) for end, name in names.items()}
    edits = {span: text for each in eliminated for span, text in each.edits.items()}
    sql = inject(detected.parsed, substitutions, edits)
    return replace(
        pruned,
        sql=sql,
        rewritten_sql=sql,
        pinned_sql=inject(detected.parsed, pins),
        expanded_sql=detected.parsed.sql if detected.expanded_views else None,
        fingerprints=frozenset(each.assignment.filter.fingerprint for each in applied),
        relations={name: local[end].query.fingerprint for end, name in names.items()},
        held_tables={name: str(local[end].query.rows_of.tables[0]) for end, name in names.items()},
        properties={
            **switched_off(
                *((NATIVE_PRUNING,) if is_native_off else ()),
                # Without its join, a query may ask for no more than MAX of some files.
                *((AGGREGATES_OF_STATISTICS,) if eliminated else ()),
            ),
            **(KEEPS_FILTERS if names and not is_covered else {}),
            **({} if is_native_off else KEEPS_PRUNED_SIDES),
        },
        rewrites=(
            *_options_records(options, detected),
            *(
                _relation_record(place, rows, detected)
                for place, rows in held
                if place.reference_end in names
            ),
            *(_elimination_record(each, detected) for each in eliminated),
            *(_expansion_record(view, tables) for view, tables in detected.expanded_views.items()),
            *((RewriteRecord(RewriteKind.NATIVE_PRUNING_OFF),) if is_native_off else ()),
        ),
        unpinned=UnpinnedTables(
            unpinned((each.assignment.filter for each in applied), detected.facts),
            _references(detected, pins) if bounds.is_verified else (),
            _read_by_views(detected, pins),
        ),
        skipped=(*_skipped(applied, detected), *(_unread(place, detected) for place in local.values())),
        referenced=_referenced(detected) if applied else (),
    )


def _is_worth_a_place(rows: CachedRelation, detected: Detected) -> bool:
    """Whether the engine still prunes as much of other tables if it reads these rows from memory.

    If one side of a join is empty, the engine skips the other side. But it may turn a subquery into that join
    only after it has looked for empty sides: then it has no filter left to prune by either.
    """
    return rows.row_count > 0 or not detected.detection.has_joining_subqueries


def _folds_values(detected: Detected) -> bool:
    """Whether the text has VALUES rows, which the engine filters while it plans.

    If no such row is left, the engine skips the other side. That needs the optimizer rule which rows in
    memory switch off.
    """
    return detected.parsed.tree.find(exp.Values) is not None


def _eliminated(
    detected: Detected,
    applied: Sequence[AppliedFilter],
    local: Sequence[tuple[RelationAssignment, CachedRelation]],
    pins: Mapping[int, TableSubstitution],
    bounds: RewriteBounds,
) -> Sequence[EliminatedJoin]:
    if RewriteKind.JOIN_DROPPED not in bounds.kinds:
        return ()
    candidates = [each for each in detected.detection.redundant_joins if each.probe_end in pins]
    return eliminated_joins(candidates, applied, dict(local))


def _names_of(local: Mapping[int, RelationAssignment], sql: str, gone: Collection[int]) -> dict[int, str]:
    """Returns the names of the relations in the text, by the places of the tables that they replace."""
    numbered = enumerate(sorted(local.items()), start=1)
    return {
        end: _new_name(place.query.rows_of.tables[0], number, sql)
        for number, (end, place) in numbered
        if end not in gone
    }


def _pinned_tables(
    applied: Sequence[AppliedFilter], local: Collection[RelationAssignment]
) -> set[tuple[TableName, int | None]]:
    """Returns the tables of filters and relations: every reference to one of them reads the same snapshot."""
    pinned: set[tuple[TableName, int | None]] = set()
    for build in (place.query.rows_of for place in local):
        pinned |= set(zip(build.tables, build.snapshot_ids, strict=True))
    for found in (each.assignment.filter for each in applied):
        pinned.add((found.probe.table, found.probe.snapshot_id))
        pinned |= set(zip(found.build.tables, found.build.snapshot_ids, strict=True))
    return pinned


def _others_pinned(detected: Detected) -> set[tuple[TableName, int | None]]:
    """Returns every other table that is not ambiguous.

    Read later, such a table might have a commit that came after one on the pinned tables. A table behind an
    expanded view keeps the columns that it had at the expansion.
    """
    ambiguous = detected.detection.ambiguous
    sure = (each for each in detected.facts.values() if each.name.in_lower_case() not in ambiguous)
    return {(each.name, each.snapshot_id) for each in sure}


def _pins(
    detected: Detected, pinned: Collection[tuple[TableName, int | None]]
) -> dict[int, TableSubstitution]:
    found: dict[int, TableSubstitution] = {}
    for reference, facts in _read(detected):
        if facts is None or not reference.is_plain or (facts.name, facts.snapshot_id) not in pinned:
            continue
        # Two names may read one snapshot with different columns.
        if is_readable_again(facts):
            found[reference.end] = TableSubstitution(facts.snapshot_id)
    return found


def _references(detected: Detected, pins: Mapping[int, TableSubstitution]) -> tuple[UnpinnedReference, ...]:
    return unpinned_references(detected.parsed, detected.names, detected.facts, pins)


def _read_by_views(detected: Detected, pins: Mapping[int, TableSubstitution]) -> tuple[TableFacts, ...]:
    """Returns the pinned tables that an unexpanded view may read in their later state."""
    if all(each in detected.facts for each in detected.names.values()):
        return ()
    pinned = (facts for reference, facts in _read(detected) if reference.end in pins)
    return tuple({each.name: each for each in pinned if each is not None}.values())


def _read(detected: Detected) -> Iterator[tuple[TableReference, TableFacts | None]]:
    """Yields the table references, with the known facts of each."""
    for reference in detected.parsed.references:
        table = detected.names.get(reference.end)
        if table is not None:
            yield reference, detected.facts.get(table)


def _options(
    pins: Mapping[int, TableSubstitution],
    applied: Sequence[AppliedFilter],
    detected: Detected,
    bounds: RewriteBounds,
) -> dict[int, Mapping[str, str]]:
    """Returns Iceberg's read options for scans whose remaining files are known.

    All references to one snapshot have the same options, for the largest of their shares: the engine applies
    those of the reference that it resolves first to the others too.
    """
    found: dict[int, Mapping[str, str]] = {}
    if RewriteKind.READ_OPTIONS not in bounds.kinds:
        return found
    shares = _shares(applied)
    scans: dict[tuple[TableName, int], list[tuple[int, TableFacts]]] = {}
    for reference, facts in _read(detected):
        if facts is not None and facts.snapshot_id is not None and reference.end in pins:
            scans.setdefault((facts.name, facts.snapshot_id), []).append((reference.end, facts))
    for places in scans.values():
        if any(end in shares for end, _ in places):
            share = max(shares.get(end, WHOLE) for end, _ in places)
            options = read_options(places[0][1], share, bounds.slots)
            found |= dict.fromkeys((end for end, _ in places), options)
    return found


def _shares(applied: Sequence[AppliedFilter]) -> Mapping[int, FileShare]:
    """Returns the share of files that filters leave for each reference, if known."""
    shares: dict[int, FileShare] = {}
    for each in applied:
        if each.formed.share is not None:
            shares[each.end] = min(each.formed.share, shares.get(each.end, WHOLE))
    return shares


def _options_records(options: Mapping[int, Mapping[str, str]], detected: Detected) -> Iterator[RewriteRecord]:
    read = (
        (facts, options[reference.end]) for reference, facts in _read(detected) if reference.end in options
    )
    said = {(facts.name, facts.snapshot_id): each for facts, each in read if facts is not None}
    for (name, _), each in said.items():
        detail = ", ".join(f"{key} = {value}" for key, value in sorted(each.items()))
        yield RewriteRecord(RewriteKind.READ_OPTIONS, str(name), detail)


def _new_name(table: TableName, number: int, sql: str) -> str:
    """Returns a view name that is not in the text: it would hide a table of the same name."""
    name = f"{table.table}_rows_{number}"
    while name.casefold() in sql.casefold():
        name += "_"
    return name


def _is_covered(
    detected: Detected,
    applied: Sequence[AppliedFilter],
    filters: Sequence[FilterRecord],
    local: Collection[int],
) -> bool:
    read = [(reference.end, facts) for reference, facts in _read(detected) if reference.end not in local]
    scans = [(end, facts) for end, facts in read if facts is not None]
    are_all_known = all(each.has_known_version for each in detected.parsed.references)
    if len(scans) < len(read) or not are_all_known or detected.detection.has_joining_subqueries:
        return False
    narrowed: dict[tuple[int, str], bool] = {}
    for each in applied:
        columns = each.assignment.filter.probe.columns
        if len(columns) == 1:
            place = each.end, columns[0]
            narrowed[place] = narrowed.get(place, True) and _says_all(each)
    unapplied = [each for each in filters if not each.is_applied]
    return covers_native_pruning(scans, narrowed, unapplied, detected.detection.unfiltered)


def _says_all(applied: AppliedFilter) -> bool:
    """Whether the engine's own pruning by the same join would leave out no more."""
    if applied.formed.form is FilterForm.EMPTY:
        return True
    assignment = applied.assignment
    # Converted keys may match more: a day matches all of its timestamps.
    is_exact = applied.formed.is_exact and not assignment.filter.is_converted
    return is_exact and assignment.is_whole and not assignment.is_shared


def _relation_record(place: RelationAssignment, rows: CachedRelation, detected: Detected) -> RewriteRecord:
    rows_of = place.query.rows_of
    where = f" where {rows_of.predicate}" if rows_of.predicate else ""
    detail = f"{rows.row_count} rows of {len(rows_of.columns)} columns, {rows.byte_count} bytes{where}"
    number = _number(place.reference_end, detected)
    return RewriteRecord(RewriteKind.LOCAL_RELATION, str(rows_of.tables[0]), detail, number)


def _elimination_record(eliminated: EliminatedJoin, detected: Detected) -> RewriteRecord:
    return RewriteRecord(
        RewriteKind.JOIN_DROPPED,
        str(eliminated.join.relation.query.rows_of.tables[0]),
        f"by the keys of {eliminated.join.build_column}",
        _number(eliminated.end, detected),
        eliminated.by.assignment.filter.filter_id,
    )


def _number(end: int, detected: Detected) -> int | None:
    table_reference = detected.parsed.label_at(end)
    return None if table_reference is None else table_reference.number


def _expansion_record(view: TableName, tables: Sequence[TableName]) -> RewriteRecord:
    return RewriteRecord(
        RewriteKind.VIEW_OPENED, str(view), f"reads {', '.join(map(str, tables)) or 'nothing'}"
    )


def _skipped(applied: Sequence[AppliedFilter], detected: Detected) -> list[ScanRecord]:
    empty = {each.end: each for each in applied if each.formed.form is FilterForm.EMPTY}
    return [skipped_scan(_facts_of(each, detected)) for each in empty.values()]


def _referenced(detected: Detected) -> tuple[ScanRecord, ...]:
    read = (facts for _, facts in _read(detected) if facts is not None)
    facts = {(each.name, each.snapshot_id): each for each in read}.values()
    return tuple(skipped_scan(each) for each in facts if each.source is TableSource.ICEBERG)


def _unread(place: RelationAssignment, detected: Detected) -> ScanRecord:
    rows_of = place.query.rows_of
    return skipped_scan(detected.facts_at(rows_of.tables[0], rows_of.snapshot_ids[0]))


def _facts_of(applied: AppliedFilter, detected: Detected) -> TableFacts:
    probe = applied.assignment.filter.probe
    return detected.facts_at(probe.table, probe.snapshot_id)
