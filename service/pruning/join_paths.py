"""Which relations of a SELECT are filtered, and over which joins another one hears of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from sqlglot import exp

from service.model.joins import JoinGraph, WrittenRows, own_columns

# A chain of dimensions has three or four; the text of a query may have any number.
MAX_TABLES = 8


def is_filter(condition: exp.Expr) -> bool:
    """Whether it removes rows: that a key is there is no filter."""
    return not (isinstance(condition, exp.Not) and isinstance(condition.this.unnest(), exp.Is))


def relations_in(condition: exp.Expr) -> frozenset[str]:
    """The relations of the SELECT whose columns the condition reads, subqueries aside."""
    return frozenset(each.table for each in own_columns(condition))


def filtered_relations(graph: JoinGraph, conditions: Iterable[exp.Expr]) -> frozenset[str]:
    """Those that one of these conditions alone filters, and those that have only some rows anyway."""
    filters = (relations_in(each) for each in conditions if is_filter(each))
    written = (name for name, each in graph.relations.items() if _is_filtered(each))
    return frozenset([*(name for names in filters if len(names) == 1 for name in names), *written])


def reached(graph: JoinGraph, root: str, allowed: Set[str]) -> dict[str, str | None]:
    """Each relation that is reached from the root, with the one before it on the shortest way."""
    parents: dict[str, str | None] = {root: None}
    queue = [root]
    while queue:
        here = queue.pop(0)
        for left, right in graph.equalities:
            for near, far in ((left.relation, right.relation), (right.relation, left.relation)):
                if near == here and far in allowed and far not in parents:
                    parents[far] = here
                    queue.append(far)
    return parents


def paths_to(wanted: Set[str], parents: Mapping[str, str | None]) -> frozenset[str]:
    """The nearest of those that are wanted, with all between; more would only make the set smaller."""
    needed: frozenset[str] = frozenset()
    for each in parents:
        path = _path_to(each, parents) if each in wanted else needed
        if len(needed | path) <= MAX_TABLES:
            needed |= path
    return needed


def _is_filtered(relation: object) -> bool:
    return isinstance(relation, WrittenRows) and relation.is_filtered


def _path_to(name: str, parents: Mapping[str, str | None]) -> frozenset[str]:
    path: set[str] = set()
    step: str | None = name
    while step is not None:
        path.add(step)
        step = parents[step]
    return frozenset(path)
