"""Equalities in the ON of LEFT, RIGHT, FULL and ANTI joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate, JoinEquality, JoinGraph, KeySide
from service.pruning.join_graph.joined_select import JoinedSelect


def outer_join(select: JoinedSelect) -> Iterator[Candidate]:
    """Yields candidates that prune the null-supplied side by the preserved side; all others are rejected.

    The preserved side is never pruned: its rows without a partner belong to the result. It is not a build
    side either if another join may replace it by NULLs: conditions on it then do not hold for the rows that
    it had, so these cannot be queried by themselves. To `<=>` such NULLs are keys, so nothing is pruned.
    """
    graph = select.graph
    for equality in graph.other_equalities:
        match equality.join_type:
            case JoinType.LEFT_OUTER:
                yield from _preserved_and_filled(
                    graph, equality, preserved=equality.before, filled=equality.added
                )
            case JoinType.RIGHT_OUTER:
                yield from _preserved_and_filled(
                    graph, equality, preserved=equality.added, filled=equality.before
                )
            case JoinType.FULL_OUTER:
                yield _rejected(
                    graph, equality, equality.before, equality.added, Reason.PROBE_IS_PRESERVED_SIDE
                )
                yield _rejected(
                    graph, equality, equality.added, equality.before, Reason.PROBE_IS_PRESERVED_SIDE
                )
            case JoinType.LEFT_ANTI:
                yield _rejected(graph, equality, equality.before, equality.added, Reason.ANTI_JOIN)
                yield _rejected(graph, equality, equality.added, equality.before, Reason.ANTI_JOIN)
            case JoinType.INNER | JoinType.LEFT_SEMI:
                continue


def _preserved_and_filled(
    graph: JoinGraph, equality: JoinEquality, preserved: KeySide, filled: KeySide
) -> Iterator[Candidate]:
    yield _rejected(graph, equality, preserved, filled, Reason.PROBE_IS_PRESERVED_SIDE)
    allowed = graph.relations.keys() - graph.null_supplied - {filled.column.relation}
    if equality.is_of_filled:
        yield _rejected(graph, equality, filled, preserved, Reason.PROBE_IS_PRESERVED_SIDE)
    elif preserved.column.relation in graph.null_supplied:
        yield _rejected(graph, equality, filled, preserved, Reason.BUILD_NOT_DETERMINISTIC)
    else:
        yield _candidate(graph, equality, filled, preserved, allowed)


def _rejected(
    graph: JoinGraph, equality: JoinEquality, probe: KeySide, build: KeySide, reason: Reason
) -> Candidate:
    return _candidate(graph, equality, probe, build, (), reason)


def _candidate(
    graph: JoinGraph,
    equality: JoinEquality,
    probe: KeySide,
    build: KeySide,
    allowed: Iterable[str],
    rejection: Reason | None = None,
) -> Candidate:
    return Candidate.of_sides(
        equality.join_type, probe, build, allowed, graph, rejection, is_null_safe=equality.is_null_safe
    )
