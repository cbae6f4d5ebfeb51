"""Which keys of a scan come from one and the same row of a build side?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from service.model.filters.filtering import JoinType, Probe
from service.model.filters.joins import Candidate, ColumnOf, JoinGraph

# Partition tuples of more columns than these are rare, and predicates on them long.
MAX_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A column of a scan whose keys are those of `build`, as they stand, in the opened joins `graph`.

    `end` tells the scan from others: where its table's name ends in the text.
    """

    candidate: Candidate
    probe: Probe
    build: ColumnOf
    graph: JoinGraph
    allowed: frozenset[str]
    end: int


def composite_keys(found: Iterable[FoundKey]) -> Iterator[tuple[FoundKey, ...]]:
    """Two or more columns of one scan with the columns that they equal in a row of one relation.

    Both equalities hold of the same two rows: of an inner join, and of the row that lets a left one through.
    In the ON of outer joins they may be those of different joins, so these are left out.
    """
    groups: dict[tuple[object, ...], dict[str, FoundKey]] = {}
    for each in found:
        candidate = each.candidate
        if candidate.join_type in (JoinType.INNER, JoinType.LEFT_SEMI):
            group = (each.end, candidate.join_type, id(each.graph), candidate.build.relation, each.allowed)
            groups.setdefault(group, {}).setdefault(each.probe.columns[0], each)
    for keys in groups.values():
        if len(keys) > 1:
            yield tuple(keys.values())[:MAX_COLUMNS]
