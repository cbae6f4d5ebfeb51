"""Why is there no candidate on a table that the query reads?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.joins import JoinGraph
from service.model.tables.tables import TableFacts
from service.pruning.name_resolution.join_trees import joins_of

GraphOf = Callable[[Scope], JoinGraph | None]
FactsOf = Callable[[exp.Table], TableFacts | None]
PropagatedSpan = Callable[[exp.Table], FilterRecord | bool]
Named = Callable[[FilterRecord, exp.Table], FilterRecord]


def unfiltered(
    root: Scope,
    graph_of: GraphOf,
    facts_of: FactsOf,
    reported: PropagatedSpan,
    named: Named = lambda record, _: record,
) -> Iterator[FilterRecord]:
    """Yields a record for each reference to a known table that has no candidate.

    `reported` returns whether a table reference has one, or the record of a pair of columns that could not
    give a filter. Any other table reference is in a part of the query that is not supported, or has no
    equality join. `named` adds to the record which table reference it is.
    """
    unseen: set[int] = set()
    # In this order, all readers of a SELECT come before it.
    for scope in reversed(list(root.traverse())):
        graph = graph_of(scope)
        is_select = isinstance(scope.expression, exp.Select)
        is_unseen = id(scope) in unseen or (is_select and graph is None)
        sources = graph.relations if graph is not None else _selected(scope)
        if is_unseen:
            below = (source for source in sources.values() if isinstance(source, Scope))
            unseen |= {id(operation_scope) for operation_scope in (*below, *scope.set_operation_scopes)}
        around = frozenset() if graph is None else _seen_by_laterals(scope)
        for name, source in sources.items():
            facts = facts_of(source) if isinstance(source, exp.Table) else None
            if not isinstance(source, exp.Table) or facts is None:
                continue
            found = reported(source)
            if isinstance(found, FilterRecord):
                yield found
            elif not found:
                is_hidden = is_unseen or name in around
                reason = Reason.NOT_A_QUERY if is_hidden else Reason.NO_EQUI_JOIN
                yield named(FilterRecord.none_on(facts.name, facts.snapshot_id, reason), source)


def not_understood(tree: exp.Query, facts_of: FactsOf) -> Iterator[FilterRecord]:
    """Yields a record for each reference to a known table in a query that is not supported at all."""
    for table in tree.find_all(exp.Table):
        facts = facts_of(table)
        if facts is not None:
            yield FilterRecord.none_on(facts.name, facts.snapshot_id, Reason.NOT_A_QUERY)


def reference_of(table: exp.Table) -> int:
    """Returns what identifies a table reference: where its name ends, or else its node's identity."""
    end = table.this.meta.get("end")
    return id(table) if end is None else int(end)


def _selected(scope: Scope) -> dict[str, exp.Expr | Scope]:
    return {name: source for name, (_, source) in scope.selected_sources.items()}


def _seen_by_laterals(scope: Scope) -> frozenset[str]:
    """Returns the relations that a LATERAL beside them reads; its comparisons with them are not analyzed."""
    laterals = (lateral for join in joins_of(scope.expression) for lateral in join.find_all(exp.Lateral))
    return frozenset(column.table for lateral in laterals for column in lateral.find_all(exp.Column))
