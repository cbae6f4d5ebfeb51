"""The query as the engine ran it, and what became of each of its table references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterForm
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import ScanRecord
from service.pruning.name_resolution.at_snapshots import snapshot_of
from service.pruning.plans.conditions import conjuncts
from service.pruning.plans.table_references import is_reference_to, table_references
from service.pruning.plans.wrapper_of import wrapper_of

# A plan is for people, and its size must not be the product of a hostile text's tables and filters.
MAX_FILTERS_A_SCAN = 20


@dataclass(frozen=True, slots=True)
class RanQuery:
    """The query that ran, and the facts about the table references in `tree`, which are counted from 0.

    `filters` are those applied to each, `relations` the rows in memory that were read instead, and
    `read_with` the filters whose keys came with these rows. `unread` ones were skipped. `eliminated` are the
    joins that a filter eliminated, by its id.
    """

    tree: exp.Query
    filters: Mapping[int, tuple[FilterRecord, ...]] = field(default_factory=dict)
    relations: Mapping[int, RewriteRecord] = field(default_factory=dict)
    eliminated: Mapping[str, tuple[RewriteRecord, ...]] = field(default_factory=dict)
    unread: frozenset[int] = frozenset()
    read_with: Mapping[int, str] = field(default_factory=dict)


def ran_query(
    asked: exp.Query,
    rewritten: exp.Query | None,
    filters: Sequence[FilterRecord],
    rewrites: Sequence[RewriteRecord],
    scans: Sequence[ScanRecord],
) -> RanQuery:
    """Returns the query that ran, without the SELECTs that the gateway wrote around filtered tables.

    Filters and rewrites have the number of their table reference. Records of former versions name the table
    only: then all references to it count that are filtered in the text, at that snapshot.
    """
    tree = asked.copy() if rewritten is None else rewritten.copy()
    tables = table_references(tree)
    eliminated = [
        rewrite.table_reference
        for rewrite in rewrites
        if _is_elimination(rewrite) and rewrite.table_reference is not None
    ]
    gone = () if rewritten is None else tuple(sorted(eliminated))
    applied = [filter_ for filter_ in filters if filter_.is_applied]
    candidates = {number: _on(table, applied) for number, table in enumerate(tables)}
    found = {
        number: tuple(
            filter_record
            for filter_record in on_it
            if _is_of(filter_record, number, tables, gone, rewritten is not None)
        )
        for number, on_it in candidates.items()
    }
    filtered = {number: records[:MAX_FILTERS_A_SCAN] for number, records in found.items() if records}
    ran = RanQuery(
        tree,
        filtered,
        {
            _place(rewrite, gone): rewrite
            for rewrite in rewrites
            if rewrite.kind is RewriteKind.LOCAL_RELATION
        },
        _eliminated(rewrites),
        frozenset(_unread(tables, filtered, scans)),
        {
            _place(rewrite, gone): rewrite.filter_id
            for rewrite in rewrites
            if rewrite.kind is RewriteKind.ONE_READING
        },
    )
    if rewritten is not None:
        _unwrap(tables, filtered)
    if ran.eliminated:
        _cut_conditions(tree)
    return ran


def _is_elimination(record: RewriteRecord) -> bool:
    return record.kind is RewriteKind.JOIN_ELIMINATED


def _place(record: FilterRecord | RewriteRecord, gone: Sequence[int]) -> int:
    """Returns the position of its table reference in the text that ran, which lacks `gone`; -1: unknown."""
    table_reference = (
        record.probe.table_reference if isinstance(record, FilterRecord) else record.table_reference
    )
    return (
        -1
        if table_reference is None
        else table_reference - 1 - sum(other < table_reference for other in gone)
    )


def _on(table: exp.Table, applied: Sequence[FilterRecord]) -> Sequence[FilterRecord]:
    """Returns the filters of this table at the snapshot that it is read at."""
    snapshot_id = snapshot_of(table)
    return [
        filter_record
        for filter_record in applied
        if is_reference_to(table, str(filter_record.probe.table))
        and snapshot_id in (None, filter_record.probe.snapshot_id)
    ]


def _is_of(
    record: FilterRecord, number: int, tables: Sequence[exp.Table], gone: Sequence[int], is_rewritten: bool
) -> bool:
    if record.probe.table_reference is not None:
        return _place(record, gone) == number
    wrapper = wrapper_of(tables[number])
    return not is_rewritten or (wrapper is not None and wrapper.this.args.get("where") is not None)


def _eliminated(rewrites: Sequence[RewriteRecord]) -> Mapping[str, tuple[RewriteRecord, ...]]:
    joins = [rewrite for rewrite in rewrites if _is_elimination(rewrite)]
    ids = dict.fromkeys(join.filter_id for join in joins)
    return {name: tuple(join for join in joins if join.filter_id == name) for name in ids}


def _unread(
    tables: Sequence[exp.Table],
    filtered: Mapping[int, Sequence[FilterRecord]],
    scans: Sequence[ScanRecord],
) -> Sequence[int]:
    """Returns the skipped table references: by a key set without keys, or as every scan of the table says."""
    read = [scan.table for scan in scans if scan.has_run]
    unread = [scan.table for scan in scans if not scan.has_run]
    return [
        number
        for number, table in enumerate(tables)
        if any(filter_record.form is FilterForm.EMPTY for filter_record in filtered.get(number, ()))
        or (
            any(is_reference_to(table, table_name) for table_name in unread)
            and not any(is_reference_to(table, table_name) for table_name in read)
        )
    ]


def _unwrap(tables: Sequence[exp.Table], filtered: Mapping[int, Sequence[FilterRecord]]) -> None:
    for number, table in enumerate(tables):
        wrapper = wrapper_of(table)
        # Without a condition, a wrapper is nothing but the table, whoever wrote it.
        if wrapper is not None and (number in filtered or wrapper.this.args.get("where") is None):
            for key in ("joins", "laterals", "alias"):
                table.set(key, wrapper.args.get(key))
            wrapper.replace(table)


def _cut_conditions(tree: exp.Query) -> None:
    """Removes the TRUE that replaced a condition of an eliminated join."""
    for clause in [*tree.find_all(exp.Where), *tree.find_all(exp.Join)]:
        key = "on" if isinstance(clause, exp.Join) else "this"
        condition = clause.args.get(key)
        parts = [] if condition is None else conjuncts(condition)
        left = [part for part in parts if part != exp.true()]
        if len(left) == len(parts):
            continue
        if left or isinstance(clause, exp.Join):
            clause.set(key, exp.and_(*left, copy=False) if left else exp.true())
        else:
            clause.pop()
