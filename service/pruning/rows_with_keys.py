"""Which rows of small tables can be read together with the keys of a filter?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.model.filters.dynamic_filter import Build
from service.model.filters.relations import RelationQuery
from service.pruning.detection import FilterAssignment
from service.pruning.rewrites.local_relations import RelationAssignment


def rows_with_keys(
    assignments: Sequence[FilterAssignment], relations: Sequence[RelationAssignment]
) -> Mapping[str, RelationQuery]:
    """Returns, by the fingerprint of a filter, the relation whose rows have exactly the filter's keys.

    A relation whose table is itself filtered is read from its files, so its rows are not needed.
    """
    filtered = {assignment.reference_end for assignment in assignments}
    request = [relation.query for relation in relations if relation.reference_end not in filtered]
    found: dict[str, RelationQuery] = {}
    for build, fingerprint in (
        (assignment.filter.build, assignment.filter.fingerprint) for assignment in assignments
    ):
        relation = next(
            (relation_query for relation_query in request if _has_keys(relation_query.rows_of, build)), None
        )
        if relation is not None:
            found.setdefault(fingerprint, relation)
    return found


def _has_keys(rows_of: Build, build: Build) -> bool:
    is_one = len(build.tables) == 1 and not build.is_union and None not in build.snapshot_ids
    names = {column.lower() for column in rows_of.columns}
    return (
        is_one
        and build.tables == rows_of.tables
        and build.snapshot_ids == rows_of.snapshot_ids
        and build.predicate == rows_of.predicate
        and names.issuperset(column.lower() for column in build.columns)
    )
