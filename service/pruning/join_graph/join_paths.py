"""Over which joins does a filter on one relation of a SELECT reach another one?"""

from __future__ import annotations

from collections.abc import Mapping, Set

from service.model.filters.joins import JoinGraph

# A chain of dimensions has three or four tables; the text of a query may have any number.
MAX_TABLES = 8


def reached(graph: JoinGraph, root: str, allowed: Set[str]) -> dict[str, str | None]:
    """Returns each relation that is reached from the root, with the one before it on the shortest path."""
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


def paths_to(request: Set[str], parents: Mapping[str, str | None]) -> frozenset[str]:
    """Returns the nearest wanted relations with all between; more would only make the key set smaller."""
    needed: frozenset[str] = frozenset()
    for parent in parents:
        path = _path_to(parent, parents) if parent in request else needed
        if len(needed | path) <= MAX_TABLES:
            needed |= path
    return needed


def _path_to(name: str, parents: Mapping[str, str | None]) -> frozenset[str]:
    path: set[str] = set()
    step: str | None = name
    while step is not None:
        path.add(step)
        step = parents[step]
    return frozenset(path)
