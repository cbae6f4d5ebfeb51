"""Equalities in the ON of LEFT, RIGHT, FULL and ANTI joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.model.filters.filtering import JoinType, Reason
from service.model.filters.joins import Candidate, JoinEquality, JoinGraph, KeySide


def outer_join(graph: JoinGraph) -> Iterator[Candidate]:
    """The side that may be filled with NULLs is narrowed by the side whose rows are kept.

    The kept side is never narrowed: its rows without a partner belong to the answer. Nor is it a build side
    if another join may replace it by NULLs, for then conditions on it do not hold for the rows it had: what
    chooses them cannot be asked by itself. To `<=>`, these NULLs are keys, so nothing is narrowed by them.
    """
    for each in graph.other_equalities:
        match each.join_type:
            case JoinType.LEFT_OUTER:
                yield from _kept_and_filled(graph, each, kept=each.before, filled=each.added)
            case JoinType.RIGHT_OUTER:
                yield from _kept_and_filled(graph, each, kept=each.added, filled=each.before)
            case JoinType.FULL_OUTER:
                yield _refused(graph, each, each.before, each.added, Reason.PROBE_IS_PRESERVED_SIDE)
                yield _refused(graph, each, each.added, each.before, Reason.PROBE_IS_PRESERVED_SIDE)
            case JoinType.LEFT_ANTI:
                yield _refused(graph, each, each.before, each.added, Reason.ANTI_JOIN)
                yield _refused(graph, each, each.added, each.before, Reason.ANTI_JOIN)
            case JoinType.INNER | JoinType.LEFT_SEMI:
                continue


def _kept_and_filled(
    graph: JoinGraph, equality: JoinEquality, kept: KeySide, filled: KeySide
) -> Iterator[Candidate]:
    yield _refused(graph, equality, kept, filled, Reason.PROBE_IS_PRESERVED_SIDE)
    allowed = graph.relations.keys() - graph.null_supplied - {filled.column.relation}
    if equality.is_of_filled:
        yield _refused(graph, equality, filled, kept, Reason.PROBE_IS_PRESERVED_SIDE)
    elif kept.column.relation in graph.null_supplied:
        yield _refused(graph, equality, filled, kept, Reason.BUILD_NOT_DETERMINISTIC)
    else:
        yield _candidate(graph, equality, filled, kept, allowed)


def _refused(
    graph: JoinGraph, equality: JoinEquality, probe: KeySide, build: KeySide, reason: Reason
) -> Candidate:
    return _candidate(graph, equality, probe, build, (), reason)


def _candidate(
    graph: JoinGraph,
    equality: JoinEquality,
    probe: KeySide,
    build: KeySide,
    allowed: Iterable[str],
    refusal: Reason | None = None,
) -> Candidate:
    return Candidate.of_sides(
        equality.join_type, probe, build, allowed, graph, refusal, is_null_safe=equality.is_null_safe
    )
