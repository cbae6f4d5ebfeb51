"""Which rows of small tables can be read together with the keys of a filter?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.model.filters.filtering import Build
from service.model.filters.relations import RelationQuery
from service.pruning.detection import FilterAssignment
from service.pruning.rewrites.local_relations import RelationAssignment


def rows_with_keys(
    assignments: Sequence[FilterAssignment], relations: Sequence[RelationAssignment]
) -> Mapping[str, RelationQuery]:
    """Returns, by the fingerprint of a filter, the relation whose rows have exactly the filter's keys.

    A relation whose table is itself filtered is read from its files, so its rows are not needed.
    """
    filtered = {each.reference_end for each in assignments}
    request = [each.query for each in relations if each.reference_end not in filtered]
    found: dict[str, RelationQuery] = {}
    for build, fingerprint in ((each.filter.build, each.filter.fingerprint) for each in assignments):
        relation = next((each for each in request if _has_keys(each.rows_of, build)), None)
        if relation is not None:
            found.setdefault(fingerprint, relation)
    return found


def _has_keys(rows_of: Build, build: Build) -> bool:
    is_one = len(build.tables) == 1 and not build.is_union and None not in build.snapshot_ids
    names = {each.lower() for each in rows_of.columns}
    return (
        is_one
        and build.tables == rows_of.tables
        and build.snapshot_ids == rows_of.snapshot_ids
        and build.predicate == rows_of.predicate
        and names.issuperset(each.lower() for each in build.columns)
    )
