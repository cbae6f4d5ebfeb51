"""Why is there no candidate on a table that the query reads?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filtering import Reason
from service.model.joins import JoinGraph, own_columns
from service.model.tables import TableFacts, TableName
from service.pruning.key_sides import key_sides

GraphOf = Callable[[Scope], JoinGraph | None]
FactsOf = Callable[[exp.Table], TableFacts | None]


def left_out(
    root: Scope, graph_of: GraphOf, facts_of: FactsOf, covered: Collection[TableName]
) -> Mapping[TableName, Reason]:
    """The reason for each known table that is not `covered`; the last SELECT that reads it decides.

    A key of its own that was no candidate is one that no file can be told apart by. A key further out could
    not be seen through what lies between.
    """
    found: dict[TableName, Reason] = {}
    joined_further_out: set[int] = set()
    # Whoever reads a SELECT comes before it.
    for scope in reversed(list(root.traverse())):
        graph = graph_of(scope)
        joined = {*_joined(graph), *_joined_by_subqueries(scope, graph_of)}
        for name, (_, source) in scope.selected_sources.items():
            is_out = id(scope) in joined_further_out
            if isinstance(source, Scope):
                if name in joined or is_out:
                    joined_further_out |= {id(source), *map(id, source.set_operation_scopes)}
            elif (facts := facts_of(source)) is not None and facts.name not in covered:
                found[facts.name] = _reason(graph, name in joined, is_out)
    return found


def _reason(graph: JoinGraph | None, is_joined: bool, is_joined_further_out: bool) -> Reason:
    if graph is None:
        return Reason.NOT_A_QUERY
    if is_joined:
        return Reason.PROBE_NOT_PRUNABLE
    return Reason.KEY_IS_COMPUTED if is_joined_further_out else Reason.NO_EQUI_JOIN


def _joined_by_subqueries(scope: Scope, graph_of: GraphOf) -> Iterator[str]:
    """The relations of the SELECT that its subqueries compare with their own: `EXISTS (… f.k = d.k)`."""
    for graph in map(graph_of, scope.subquery_scopes):
        yield from () if graph is None else set(_joined(graph)) - graph.relations.keys()


def _joined(graph: JoinGraph | None) -> Iterator[str]:
    """The relations that have a column in an equality with another one, or in a subquery's list."""
    if graph is None:
        return
    for each in graph.other_equalities:
        yield each.before.column.relation
        yield each.added.column.relation
    for condition in graph.conjuncts:
        sides = key_sides(condition) or key_sides(condition, exp.NullSafeEQ)
        if sides is not None:
            yield from (side.column.relation for side in sides)
        elif isinstance(condition, exp.In) and condition.args.get("query") is not None:
            yield from (each.table for each in own_columns(condition.this))
