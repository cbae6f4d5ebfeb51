"""Which keys of a scan come from the same row of a build side?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from service.model.filters.dynamic_filter import JoinType, Probe
from service.model.filters.joins import Candidate, ColumnOf, JoinGraph

# Partition tuples of more columns are rare, and predicates on them are long.
MAX_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A column of a scan whose keys are the unconverted values of `build` in the flattened joins `graph`.

    `end` identifies the scan: it is where its table's name ends in the text.
    """

    candidate: Candidate
    probe: Probe
    build: ColumnOf
    graph: JoinGraph
    allowed: frozenset[str]
    end: int


def composite_keys(found: Iterable[FoundKey]) -> Iterator[tuple[FoundKey, ...]]:
    """Yields two or more columns of one scan with the columns that they equal in a row of one relation.

    All of these equalities hold for the same two rows: the two of an inner join, or a left row and the right
    row that lets it through. Equalities in the ON of outer joins may belong to different joins, so these are
    left out.
    """
    groups: dict[tuple[object, ...], dict[str, FoundKey]] = {}
    for key in found:
        candidate = key.candidate
        if candidate.join_type in (JoinType.INNER, JoinType.LEFT_SEMI):
            group = (key.end, candidate.join_type, id(key.graph), candidate.build.relation, key.allowed)
            groups.setdefault(group, {}).setdefault(key.probe.columns[0], key)
    for keys in groups.values():
        if len(keys) > 1:
            yield tuple(keys.values())[:MAX_COLUMNS]
