"""Could the engine's own pruning of a join find fewer keys than the query for its keys?"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.joins import Candidate, ColumnOf, FlattenedGraph, own_columns
from service.pruning.rewrites.local_relations import is_joined_by_the_select

_CHOOSING = (exp.Having, exp.Limit, exp.Offset, exp.Qualify, exp.TableSample, exp.Window)


def has_all_filters(
    candidate: Candidate, flattened: FlattenedGraph, asked: Collection[str], subquery: exp.Expr | None
) -> bool:
    """Whether the query for the keys has everything that reduces the keys of the engine's own join.

    The engine prunes by the rows of the other side of the join: a single table, or all that was joined before
    the probe. `asked` are the relations that the keys are collected from; `subquery` has the build side of a
    semi join. The answer is False where more than inner joins are involved.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> from service.model.filters.joins import ColumnOf
    >>> from service.pruning.join_graph.join_graph import join_graph
    >>> from service.pruning.join_graph.flatten_relations import flatten_relations
    >>> def has_all(joins, condition="d.y = 1"):
    ...     sql = f"SELECT 1 FROM {joins} WHERE f.k = d.k AND d.m = m.k AND {condition}"
    ...     graph = join_graph(build_scope(parse_one(sql, read="spark")))
    ...     found = Candidate(JoinType.INNER, ColumnOf("f", "k"), ColumnOf("d", "k"), frozenset(), graph)
    ...     return has_all_filters(found, flatten_relations(graph, lambda _: None), {"d"}, None)
    >>> has_all("f, d, m"), has_all("d, f, m"), has_all("d, m, f")
    (True, True, False)

    The engine also infers conditions: `d.y = 1` from the two on `f.y`.

    >>> has_all("f, d, m", "f.y = d.y AND f.y = 1"), has_all("f, d, m", "f.y = d.y AND f.z = 1")
    (False, True)

    And `d.k > d.y` from `f.k > d.y`: equal columns stand for each other.

    >>> has_all("f, d, m", "f.k > d.y"), has_all("f, d, m", "(d.y = 1 OR f.k IN (2, 3))")
    (False, False)
    >>> has_all("f, d, m", "f.z > d.y")
    True
    """
    graph, build = candidate.build_graph, candidate.build.relation
    table = graph.relations.get(build)
    if flattened.with_more_filters or graph.null_supplied or not isinstance(table, exp.Table):
        return False
    if candidate.join_type is JoinType.LEFT_SEMI:
        is_clear = subquery is not None and subquery.find(*_CHOOSING) is None
        return is_clear and graph.relations.keys() <= set(asked)
    if candidate.join_type is not JoinType.INNER or candidate.probe.relation not in graph.relations:
        return False
    joined = list(graph.relations)
    before = set(joined[: joined.index(candidate.probe.relation)])
    is_alone = is_joined_by_the_select(table) and before <= {build}
    is_all_asked = is_alone or graph.relations.keys() - {candidate.probe.relation} <= set(asked)
    conjuncts = {*graph.conjuncts, *flattened.graph.conjuncts}
    of_asked = frozenset(asked)
    return is_all_asked and not (
        _are_more_inferred(conjuncts, of_asked) or _is_any_moved(conjuncts, of_asked)
    )


def _is_any_moved(conjuncts: Collection[exp.Expr], asked: frozenset[str]) -> bool:
    """Whether a condition on several relations is one on `asked` alone, by columns that equal its own."""
    equal: dict[ColumnOf, set[ColumnOf]] = {}
    mixed: list[frozenset[ColumnOf]] = []
    for conjunct in conjuncts:
        columns = frozenset(ColumnOf(column.table, column.name) for column in own_columns(conjunct))
        if len({column.relation for column in columns}) < 2:
            continue
        if _is_equality(conjunct):
            for column in columns:
                equal.setdefault(column, set()).update(columns)
        else:
            mixed.append(columns)
    known = _reached([column for column in equal if column.relation in asked], equal)
    return any(all(column in known or column.relation in asked for column in columns) for columns in mixed)


def _is_equality(conjunct: exp.Expr) -> bool:
    """Whether the condition equates one column, or an expression over it, with another one."""
    return isinstance(conjunct, exp.EQ | exp.NullSafeEQ) and all(
        len(list(own_columns(side))) == 1 for side in (conjunct.left, conjunct.right)
    )


def _reached(start: list[ColumnOf], near: Mapping[ColumnOf, Collection[ColumnOf]]) -> frozenset[ColumnOf]:
    """Returns the columns that can be reached from the first ones, and these."""
    reached, waiting = set(start), list(start)
    while waiting:
        found = set(near.get(waiting.pop(), ())) - reached
        reached |= found
        waiting += found
    return frozenset(reached)


def _are_more_inferred(conjuncts: Collection[exp.Expr], asked: frozenset[str]) -> bool:
    """Whether another relation has a condition on a column that is compared with `asked`, also indirectly."""
    read = [
        frozenset(ColumnOf(column.table, column.name) for column in own_columns(conjunct))
        for conjunct in conjuncts
    ]
    compared: dict[ColumnOf, set[ColumnOf]] = {}
    filtered: set[ColumnOf] = set()
    for columns in read:
        if len({column.relation for column in columns}) > 1:
            for column in columns:
                compared.setdefault(column, set()).update(columns)
        else:
            filtered.update(column for column in columns if column.relation not in asked)
    reached = _reached([column for column in compared if column.relation in asked], compared)
    return not reached.isdisjoint(filtered)
