"""`<=>` between columns of two relations: equalities in which NULL is a key."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.key_sides import key_sides


def null_safe_join(select: JoinedSelect) -> Iterator[Candidate]:
    """Yields both directions of each `<=>` that holds for every row.

    A candidate is rejected if an outer join may replace one of its sides by NULLs. Such a build side has a
    NULL key that its table does not have; on such a probe side, each pruned row may become a NULL that
    matches. The two columns of a `<=>` are not put in one class: a column that equals one of them by `=` says
    nothing about the rows in which both are NULL.
    """
    graph = select.graph
    for condition in graph.conjuncts:
        sides = key_sides(condition, exp.NullSafeEQ)
        if sides is None:
            continue
        is_filled = any(side.column.relation in graph.null_supplied for side in sides)
        rejection = Reason.PROBE_IS_PRESERVED_SIDE if is_filled else None
        for probe, build in (sides, sides[::-1]):
            allowed = graph.relations.keys() - {probe.column.relation}
            yield Candidate.of_sides(
                JoinType.INNER, probe, build, allowed, graph, rejection, is_null_safe=True
            )
