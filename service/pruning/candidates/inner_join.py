"""Equalities that hold for every row: either side may filter the other."""

from __future__ import annotations

from collections.abc import Iterator

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.joins import Candidate
from service.pruning.join_graph.joined_select import JoinedSelect


def inner_join(select: JoinedSelect) -> Iterator[Candidate]:
    """Yields every ordered pair of columns of one class, if they are of different relations.

    The equalities are those of INNER and LEFT SEMI joins, of comma joins with a WHERE, and of a WHERE over an
    outer join. An equality rejects NULL, so it drops each row that the filter turns into a NULL-extended one.
    """
    graph = select.graph
    for column_class in sorted(set(select.classes.values()), key=sorted):
        for probe in sorted(column_class):
            for build in sorted(column_class):
                if probe.relation != build.relation:
                    allowed = graph.relations.keys() - {probe.relation}
                    yield Candidate(JoinType.INNER, probe, build, frozenset(allowed), graph)
