"""Writes what was found for a query into its text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from service.model.filtering import FilterForm, FilterRecord
from service.model.pruning import ScanRecord
from service.model.relations import HeldRelation
from service.model.rewrites import RewriteKind, RewriteRecord
from service.model.tables import TableFacts, TableName, TableSource
from service.pruning.covers_native_pruning import covers_native_pruning
from service.pruning.droppable_joins import DroppableJoin
from service.pruning.inject import Narrowing, inject
from service.pruning.is_readable_again import is_readable_again
from service.pruning.local_relations import RelationPlacement
from service.pruning.read_options import read_options
from service.query.applied_filter import AppliedFilter
from service.query.detections import Detected
from service.query.dropped_joins import dropped_joins
from service.query.pruned_query import PrunedQuery, skipped_scan
from service.query.unpinned import unpinned

NATIVE_PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"


@dataclass(frozen=True, slots=True)
class RewriteBounds:
    """Which rewrites are made besides filters, and for how many tasks at once scans are cut."""

    kinds: frozenset[RewriteKind]
    slots: int


def rewritten(
    pruned: PrunedQuery,
    detected: Detected,
    applied: Sequence[AppliedFilter],
    held: Sequence[tuple[RelationPlacement, HeldRelation]],
    bounds: RewriteBounds,
) -> PrunedQuery:
    """The query with its filters, relations and read options in its text; as it is when there is none.

    A narrowed table is read from its files, also when its rows are in memory.
    """
    narrowed_ends = {each.end for each in applied}
    local = {place.reference_end: place for place, _ in held if place.reference_end not in narrowed_ends}
    if not applied and not local:
        return pruned
    pins = _pins(detected, _pinned_tables(applied, local.values()) | _behind_views(detected))
    dropped: list[DroppableJoin] = []
    if RewriteKind.JOIN_DROPPED in bounds.kinds:
        candidates = [each for each in detected.detection.droppable if each.probe_end in pins]
        rows_of = {place: rows for place, rows in held if place.reference_end in local}
        dropped = dropped_joins(candidates, applied, rows_of)
    narrowings = dict(pins)
    for end in narrowed_ends & pins.keys():
        conditions = tuple(each.formed.condition for each in applied if each.end == end)
        narrowings[end] = replace(pins[end], conditions=conditions)
    rewrites: list[RewriteRecord] = []
    if RewriteKind.READ_OPTIONS in bounds.kinds:
        rewrites += _add_options(narrowings, applied, detected, bounds.slots)
    relations: dict[str, str] = {}
    gone = {each.relation.reference_end for each in dropped}
    for number, (end, place) in enumerate(sorted(local.items()), start=1):
        if end in gone:
            narrowings.pop(end, None)
            continue
        name = _new_name(place.query.rows_of.tables[0], number, detected.parsed.sql)
        relations[name] = place.query.fingerprint
        narrowings[end] = Narrowing(None, relation=name)
    rewrites += [
        _relation_record(place, rows) for place, rows in held if place.reference_end in local.keys() - gone
    ]
    rewrites += [_dropped_record(each) for each in dropped]
    rewrites += [_opened_record(view, tables) for view, tables in detected.opened_views.items()]
    properties: dict[str, str] = {}
    is_wanted = applied and RewriteKind.NATIVE_PRUNING_OFF in bounds.kinds
    if is_wanted and _is_covered(detected, applied, pruned.filters, local.keys()):
        properties[NATIVE_PRUNING] = "false"
        rewrites.append(RewriteRecord(RewriteKind.NATIVE_PRUNING_OFF))
    edits = {span: text for each in dropped for span, text in (each.edits or {}).items()}
    sql = inject(detected.parsed, narrowings, edits)
    return replace(
        pruned,
        sql=sql,
        rewritten_sql=sql,
        pinned_sql=inject(detected.parsed, pins),
        opened_sql=detected.parsed.sql if detected.opened_views else None,
        fingerprints=frozenset(each.placement.filter.fingerprint for each in applied),
        relations=relations,
        properties=properties,
        rewrites=tuple(rewrites),
        unpinned=unpinned((each.placement.filter for each in applied), detected.facts),
        skipped=(*_skipped(applied, detected), *(_unread(place, detected) for place in local.values())),
        mentioned=_mentioned(detected) if applied else (),
    )


def _pinned_tables(applied: Sequence[AppliedFilter], local: Collection[RelationPlacement]) -> set[TableName]:
    """Every mention of a table that a filter or a relation was made from: all read the same snapshot."""
    pinned = {place.query.rows_of.tables[0] for place in local}
    for each in applied:
        pinned |= {each.placement.filter.probe.table, *each.placement.filter.build.tables}
    return pinned


def _behind_views(detected: Detected) -> set[TableName]:
    """What opened views read has the columns that it had when they were opened."""
    tables = {each for names in detected.opened_views.values() for each in names}
    return {name for name, facts in detected.facts.items() if name in tables and is_readable_again(facts)}


def _pins(detected: Detected, pinned: set[TableName]) -> dict[int, Narrowing]:
    found: dict[int, Narrowing] = {}
    for reference in detected.parsed.references:
        name = detected.names.get(reference.parts)
        facts = detected.facts.get(name) if name in pinned else None
        if facts is not None and reference.is_plain:
            found[reference.end] = Narrowing(facts.snapshot_id)
    return found


def _add_options(
    narrowings: dict[int, Narrowing], applied: Sequence[AppliedFilter], detected: Detected, slots: int
) -> list[RewriteRecord]:
    records = []
    for end, narrowing in narrowings.items():
        shares = [each.formed.share for each in applied if each.end == end and each.formed.share is not None]
        if not shares or narrowing.snapshot_id is None:
            # The options are Iceberg's.
            continue
        facts = next(_facts_of(each, detected) for each in applied if each.end == end)
        options = read_options(facts, min(shares), slots)
        narrowings[end] = replace(narrowing, options=options)
        detail = ", ".join(f"{key} = {value}" for key, value in sorted(options.items()))
        records.append(RewriteRecord(RewriteKind.READ_OPTIONS, str(facts.name), detail))
    return records


def _new_name(table: TableName, number: int, sql: str) -> str:
    """A view's name that the text does not know: it would hide a table of the same name."""
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
    scans = [
        (reference.end, detected.facts[name])
        for reference in detected.parsed.references
        if reference.end not in local
        and (name := detected.names.get(reference.parts)) is not None
        and name in detected.facts
    ]
    exact = [each for each in applied if each.formed.is_exact or each.formed.form is FilterForm.EMPTY]
    narrowed = {(each.end, each.placement.filter.probe.columns[0]) for each in exact}
    return covers_native_pruning(scans, narrowed, [each for each in filters if not each.is_applied])


def _relation_record(place: RelationPlacement, rows: HeldRelation) -> RewriteRecord:
    rows_of = place.query.rows_of
    where = f" where {rows_of.predicate}" if rows_of.predicate else ""
    detail = f"{rows.row_count} rows of {len(rows_of.columns)} columns, {rows.byte_count} bytes{where}"
    return RewriteRecord(RewriteKind.LOCAL_RELATION, str(rows_of.tables[0]), detail)


def _dropped_record(join: DroppableJoin) -> RewriteRecord:
    rows_of = join.relation.query.rows_of
    return RewriteRecord(
        RewriteKind.JOIN_DROPPED, str(rows_of.tables[0]), f"by the keys of {join.build_column}"
    )


def _opened_record(view: TableName, tables: Sequence[TableName]) -> RewriteRecord:
    return RewriteRecord(
        RewriteKind.VIEW_OPENED, str(view), f"reads {', '.join(map(str, tables)) or 'nothing'}"
    )


def _skipped(applied: Sequence[AppliedFilter], detected: Detected) -> list[ScanRecord]:
    empty = {each.end: each for each in applied if each.formed.form is FilterForm.EMPTY}
    return [skipped_scan(_facts_of(each, detected)) for each in empty.values()]


def _mentioned(detected: Detected) -> tuple[ScanRecord, ...]:
    facts = (detected.facts.get(name) for name in dict.fromkeys(detected.names.values()))
    return tuple(skipped_scan(each) for each in facts if each and each.source is TableSource.ICEBERG)


def _unread(place: RelationPlacement, detected: Detected) -> ScanRecord:
    return skipped_scan(detected.facts[place.query.rows_of.tables[0]])


def _facts_of(applied: AppliedFilter, detected: Detected) -> TableFacts:
    return detected.facts[applied.placement.filter.probe.table]
