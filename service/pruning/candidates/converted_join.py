"""Equalities whose sides are compared after a conversion: an implicit or written cast, or an expression."""

from __future__ import annotations

from collections.abc import Iterator

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.joins import Candidate
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.key_sides import key_sides


def converted_join(select: JoinedSelect) -> Iterator[Candidate]:
    """Yields both directions of each equality that holds for every row, except those that `inner_join` has.

    Whether the conversion of a side can be undone depends on its types, which are checked later.
    """
    graph, classes = select.graph, select.classes
    for condition in graph.conjuncts:
        sides = key_sides(condition)
        if sides is None:
            continue
        for probe, build in (sides, sides[::-1]):
            are_plain = probe.expression is build.expression is None
            if not are_plain or build.column not in classes.get(probe.column, ()):
                allowed = graph.relations.keys() - {probe.column.relation}
                yield Candidate.of_sides(JoinType.INNER, probe, build, allowed, graph)
