"""Reads rows that are in memory instead of a table's files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from service.model.filters.filter_record import FilterRecord
from service.model.filters.relations import CachedRelation
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.tables.tables import TableName
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.sql_text.inject import TableSubstitution
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.native_pruning import is_covered
from service.query.filtering.passes.references import ordinal_at
from service.query.filtering.passes.text_changes import Pass

Cached = Sequence[tuple[RelationAssignment, CachedRelation]]


def usable_relations(
    detected: Detected, applied: Sequence[AppliedFilter], filters: Sequence[FilterRecord], cached: Cached
) -> Cached:
    """Returns the relations to read from memory; a filtered table is read from its files.

    The engine must not lose a filter by them that it would have found itself.
    """
    filtered = {applied_filter.end for applied_filter in applied}
    usable = [
        (place, rows)
        for place, rows in cached
        if place.reference_end not in filtered and _is_worth_a_place(rows, detected)
    ]
    ends = {place.reference_end for place, _ in usable}
    if ends and _folds_values(detected) and not is_covered(detected, applied, filters, ends):
        return []
    return usable


@dataclass(frozen=True, slots=True)
class CachedReads:
    """The changes of the text, with the relations by the names that the text gives them."""

    changes: Pass
    relations: Mapping[str, RelationAssignment]


def cached_reads(relations: Cached, detected: Detected, gone: Collection[int]) -> CachedReads:
    """Returns what reads the relations, but for those whose join is `gone`."""
    local = {place.reference_end: place for place, _ in relations}
    names = _names_of(local, detected.parsed.sql, gone)
    return CachedReads(
        Pass(
            substitutions={end: TableSubstitution(None, relation=name) for end, name in names.items()},
            records=[
                _relation_record(place, rows, detected)
                for place, rows in relations
                if place.reference_end in names
            ],
        ),
        {name: local[end] for end, name in names.items()},
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


def _names_of(local: Mapping[int, RelationAssignment], sql: str, gone: Collection[int]) -> dict[int, str]:
    """Returns the names of the relations in the text, by the places of the tables that they replace."""
    numbered = enumerate(sorted(local.items()), start=1)
    return {
        end: _new_name(place.query.rows_of.tables[0], number, sql)
        for number, (end, place) in numbered
        if end not in gone
    }


def _new_name(table: TableName, number: int, sql: str) -> str:
    """Returns a view name that is not in the text: it would hide a table of the same name."""
    name = f"{table.table}_rows_{number}"
    while name.casefold() in sql.casefold():
        name += "_"
    return name


def _relation_record(place: RelationAssignment, rows: CachedRelation, detected: Detected) -> RewriteRecord:
    rows_of = place.query.rows_of
    where = f" where {rows_of.predicate}" if rows_of.predicate else ""
    detail = f"{rows.row_count} rows of {len(rows_of.columns)} columns, {rows.byte_count} bytes{where}"
    number = ordinal_at(place.reference_end, detected)
    return RewriteRecord(RewriteKind.LOCAL_RELATION, str(rows_of.tables[0]), detail, number)
