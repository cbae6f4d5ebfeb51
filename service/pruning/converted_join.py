"""Equalities whose sides are compared after a conversion: of another type, cast, or computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from service.model.filtering import JoinType
from service.model.joins import Candidate, ColumnOf, JoinGraph

Classes = Mapping[ColumnOf, frozenset[ColumnOf]]


def converted_join(graph: JoinGraph, classes: Classes) -> Iterator[Candidate]:
    """Both directions of each equality that holds for every row and is none of two columns of one class.

    Whether a side can be seen through is a question of types, which is asked later.
    """
    for condition in graph.conjuncts:
        if not isinstance(condition, exp.EQ):
            continue
        sides = [(each, _column(each)) for each in (condition.left.unnest(), condition.right.unnest())]
        for (probe_key, probe), (build_key, build) in (sides, sides[::-1]):
            if probe is None or build is None or probe.relation == build.relation:
                continue
            are_plain = isinstance(probe_key, exp.Column) and isinstance(build_key, exp.Column)
            if are_plain and build in classes.get(probe, ()):
                continue
            allowed = frozenset(graph.relations.keys() - {probe.relation})
            yield Candidate(
                JoinType.INNER,
                probe,
                build,
                allowed,
                graph,
                probe_key=_computed(probe_key),
                build_key=_computed(build_key),
            )


def _column(side: exp.Expr) -> ColumnOf | None:
    """The one column that a side is computed from."""
    if any(isinstance(each, exp.Query) for each in side.walk()):
        return None
    columns = {ColumnOf(each.table, each.name) for each in side.find_all(exp.Column)}
    return columns.pop() if len(columns) == 1 else None


def _computed(side: exp.Expr) -> exp.Expr | None:
    return None if isinstance(side, exp.Column) else side
