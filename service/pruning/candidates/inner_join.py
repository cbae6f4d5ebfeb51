"""Equalities that hold for every row: either side may narrow the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.model.filters.filtering import JoinType
from service.model.filters.joins import Candidate, ColumnOf, JoinGraph


def inner_join(graph: JoinGraph, classes: Mapping[ColumnOf, frozenset[ColumnOf]]) -> Iterator[Candidate]:
    """Every ordered pair of columns of one class.

    INNER and LEFT SEMI joins, comma joins with the equality in WHERE, and equalities in WHERE over an outer
    join: those reject NULL, so a row that narrowing turns into a NULL-extended one is dropped by them.
    """
    for each in sorted(set(classes.values()), key=sorted):
        for probe in sorted(each):
            for build in sorted(each):
                if probe.relation != build.relation:
                    allowed = graph.relations.keys() - {probe.relation}
                    yield Candidate(JoinType.INNER, probe, build, frozenset(allowed), graph)
