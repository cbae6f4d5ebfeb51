"""Could the engine find fewer keys in a join than those that its build side is asked for?"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from service.model.filters.filtering import JoinType
from service.model.filters.joins import Candidate, OpenedGraph
from service.pruning.rewrites.local_relations import is_joined_by_the_select

_CHOOSING = (exp.Having, exp.Limit, exp.Offset, exp.Qualify, exp.TableSample, exp.Window)


def has_all_filters(
    candidate: Candidate, opened: OpenedGraph, asked: Collection[str], subquery: exp.Expr | None
) -> bool:
    """Whether all that makes the keys of the engine's own join fewer is in the query for the keys.

    The engine prunes by the rows of the other side of the join: a single table, or all that was joined before
    the probe. `asked` are the relations that the keys are collected from; `subquery` is what has the build
    side of a semi join. Of what is made of more than inner joins it is not told.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> from service.model.filters.joins import ColumnOf
    >>> from service.pruning.join_graph.join_graph import join_graph
    >>> from service.pruning.join_graph.open_relations import open_relations
    >>> def has_all(joins):
    ...     sql = f"SELECT 1 FROM {joins} WHERE f.k = d.k AND d.m = m.k AND d.y = 1"
    ...     graph = join_graph(build_scope(parse_one(sql, read="spark")))
    ...     found = Candidate(JoinType.INNER, ColumnOf("f", "k"), ColumnOf("d", "k"), frozenset(), graph)
    ...     return has_all_filters(found, open_relations(graph, lambda _: None), {"d"}, None)
    >>> has_all("f, d, m"), has_all("d, f, m"), has_all("d, m, f")
    (True, True, False)
    """
    graph, build = candidate.build_graph, candidate.build.relation
    table = graph.relations.get(build)
    if opened.with_more_filters or graph.null_supplied or not isinstance(table, exp.Table):
        return False
    if candidate.join_type is JoinType.LEFT_SEMI:
        is_clear = subquery is not None and subquery.find(*_CHOOSING) is None
        return is_clear and graph.relations.keys() <= set(asked)
    if candidate.join_type is not JoinType.INNER or candidate.probe.relation not in graph.relations:
        return False
    joined = list(graph.relations)
    before = set(joined[: joined.index(candidate.probe.relation)])
    is_alone = is_joined_by_the_select(table) and before <= {build}
    return is_alone or graph.relations.keys() - {candidate.probe.relation} <= set(asked)
