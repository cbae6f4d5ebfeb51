"""Pins tables to the snapshots that the filters were made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from service.model.tables.tables import TableName
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.sql_text.inject import TableSubstitution
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.references import read_references


def pins(
    detected: Detected, applied: Sequence[AppliedFilter], relations: Collection[RelationAssignment]
) -> Mapping[int, TableSubstitution]:
    """Returns a substitution for each table reference that can be read at the snapshot of detection."""
    return _pins(detected, _pinned_tables(applied, relations) | _others_pinned(detected))


def _pins(
    detected: Detected, pinned: Collection[tuple[TableName, int | None]]
) -> dict[int, TableSubstitution]:
    found: dict[int, TableSubstitution] = {}
    for reference, facts in read_references(detected):
        if facts is None or not reference.is_plain or (facts.name, facts.snapshot_id) not in pinned:
            continue
        # Two names may read one snapshot with different columns.
        if is_readable_again(facts):
            found[reference.end] = TableSubstitution(facts.snapshot_id)
    return found


def _pinned_tables(
    applied: Sequence[AppliedFilter], local: Collection[RelationAssignment]
) -> set[tuple[TableName, int | None]]:
    """Returns the tables of filters and relations: every reference to one of them reads the same snapshot."""
    pinned: set[tuple[TableName, int | None]] = set()
    for build in (place.query.rows_of for place in local):
        pinned |= set(zip(build.tables, build.snapshot_ids, strict=True))
    for found in (applied_filter.assignment.filter for applied_filter in applied):
        pinned.add((found.probe.table, found.probe.snapshot_id))
        pinned |= set(zip(found.build.tables, found.build.snapshot_ids, strict=True))
    return pinned


def _others_pinned(detected: Detected) -> set[tuple[TableName, int | None]]:
    """Returns every other table that is not ambiguous.

    Read later, such a table might have a commit that came after one on the pinned tables. A table behind an
    expanded view keeps the columns that it had at the expansion.
    """
    ambiguous = detected.detection.ambiguous
    sure = (fact for fact in detected.facts.values() if fact.name.in_lower_case() not in ambiguous)
    return {(facts.name, facts.snapshot_id) for facts in sure}
