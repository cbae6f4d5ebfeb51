"""How every SELECT of a query joins its relations, and which of its rows the SELECTs around it need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import JoinGraph, Relation

GraphOf = Callable[[Scope, Sequence[exp.Expr]], JoinGraph | None]
PushedDown = Callable[[Scope, Sequence[Sequence[exp.Expr]]], Iterator[tuple[Scope, Sequence[exp.Expr]]]]
AskedByJoins = Callable[[str, JoinGraph], Iterable[exp.Expr]]


def join_graphs(
    root: Scope,
    references: Mapping[int, int],
    graph_of: GraphOf,
    pushed_down: PushedDown,
    asked_by_joins: AskedByJoins = lambda _name, _graph: (),
) -> dict[int, JoinGraph | None]:
    """Returns the joins of every SELECT by the identity of its scope; None for those not supported.

    A condition on the columns of a derived table becomes a condition of the table's own SELECT, if it may be
    pushed down; so do the conditions that the joins around the table imply. A SELECT with several readers
    needs the rows that any of them needs.
    """
    graphs: dict[int, JoinGraph | None] = {}
    added: dict[int, Sequence[exp.Expr]] = {}
    asked: dict[int, list[list[exp.Expr]]] = {}
    # In this order, all readers of a SELECT come before it.
    for scope in reversed(list(root.traverse())):
        of_all_references = asked.get(id(scope), [])
        if of_all_references and len(of_all_references) == references[id(scope)]:
            added |= {id(select): conditions for select, conditions in pushed_down(scope, of_all_references)}
        graphs[id(scope)] = graph = graph_of(scope, added.get(id(scope), ()))
        if graph is not None:
            for name, relation in _derived(graph.relations):
                # A condition may be true of the NULLs of a missing row; an equality is not.
                own = () if name in graph.null_supplied else graph.conditions_on(name)
                asked.setdefault(id(relation), []).append([*own, *asked_by_joins(name, graph)])
    return graphs


def _derived(relations: Mapping[str, Relation]) -> Iterable[tuple[str, Scope]]:
    return ((name, relation) for name, relation in relations.items() if isinstance(relation, Scope))
