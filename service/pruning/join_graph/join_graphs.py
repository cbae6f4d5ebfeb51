"""How every SELECT of a query joins its relations, with what the SELECTs around it need of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import JoinGraph, Relation

GraphOf = Callable[[Scope, Sequence[exp.Expr]], JoinGraph | None]
MovedDown = Callable[[Scope, Sequence[Sequence[exp.Expr]]], Iterator[tuple[Scope, Sequence[exp.Expr]]]]
AskedByJoins = Callable[[str, JoinGraph], Iterable[exp.Expr]]


def join_graphs(
    root: Scope,
    mentions: Mapping[int, int],
    graph_of: GraphOf,
    moved_down: MovedDown,
    asked_by_joins: AskedByJoins = lambda _name, _graph: (),
) -> dict[int, JoinGraph | None]:
    """The joins of every SELECT by its identity; None for those that are not understood.

    A condition on the columns of a derived table is one of that table's own SELECT, where it may be moved
    there, and so is what its joins ask of it. Of one that is read from several places, those rows are needed
    which one of them needs.
    """
    graphs: dict[int, JoinGraph | None] = {}
    added: dict[int, Sequence[exp.Expr]] = {}
    asked: dict[int, list[list[exp.Expr]]] = {}
    # Whoever reads a SELECT comes before it.
    for scope in reversed(list(root.traverse())):
        of_all_mentions = asked.get(id(scope), [])
        if of_all_mentions and len(of_all_mentions) == mentions[id(scope)]:
            added |= {id(select): conditions for select, conditions in moved_down(scope, of_all_mentions)}
        graphs[id(scope)] = graph = graph_of(scope, added.get(id(scope), ()))
        if graph is not None:
            for name, relation in _derived(graph.relations):
                # A condition may be true of the NULLs that stand for a missing row; an equality is not.
                own = () if name in graph.null_supplied else graph.conditions_on(name)
                asked.setdefault(id(relation), []).append([*own, *asked_by_joins(name, graph)])
    return graphs


def _derived(relations: Mapping[str, Relation]) -> Iterable[tuple[str, Scope]]:
    return ((name, each) for name, each in relations.items() if isinstance(each, Scope))
