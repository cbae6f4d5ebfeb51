"""The joins of every SELECT of a query, computed once for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import ColumnOf, FlattenedGraph, InlineTable, JoinGraph, Relation, alone_in
from service.pruning.conditions.bounded_clock import bounded_clock, has_clock
from service.pruning.conditions.fold_current_date import fold_current_date
from service.pruning.conditions.is_safe_to_render import is_safe_to_render
from service.pruning.conditions.is_uncorrelated import is_uncorrelated
from service.pruning.join_graph.aggregate_conditions import asks_aggregates_alone, filters_aggregates_alone
from service.pruning.join_graph.column_classes import column_classes
from service.pruning.join_graph.condition_pushdown import pushed_down
from service.pruning.join_graph.flatten_relations import flatten_relations
from service.pruning.join_graph.inline_table import inline_table
from service.pruning.join_graph.join_conditions import join_conditions
from service.pruning.join_graph.join_graph import join_graph
from service.pruning.join_graph.join_graphs import join_graphs
from service.pruning.join_graph.known_tables import KnownTables
from service.pruning.join_graph.reader_counts import reader_counts
from service.pruning.join_graph.shared_selects import shared_selects
from service.pruning.join_graph.unfiltered_references import reference_of
from service.pruning.join_graph.union_branches import union_branches


class QueryGraphs:
    """The join graphs of one query's SELECTs.

    `days` are the days that it may be, in the session's time zone, when the query runs.
    """

    def __init__(self, root: Scope, known: KnownTables, days: Sequence[date]) -> None:
        self._root = root
        self._known = known
        self._days = days
        # The right sides of LEFT SEMI and LEFT ANTI joins count too, though no SELECT list sees them.
        self._references = reader_counts(root)
        self._graphs = join_graphs(
            root, self._references, join_graph, self._pushed_down, self._asked_by_joins
        )
        self._flattened: dict[int, tuple[JoinGraph, FlattenedGraph]] = {}
        self._written_rows: dict[int, InlineTable | None] = {}
        self._classes: dict[int, Mapping[ColumnOf, frozenset[ColumnOf]]] = {}

    def graph(self, scope: Scope) -> JoinGraph | None:
        """Returns the joins of a SELECT; None when they are not supported."""
        if id(scope) not in self._graphs:
            self._graphs[id(scope)] = join_graph(scope)
        return self._graphs[id(scope)]

    def subquery_of(self, graph: JoinGraph) -> exp.Expr | None:
        """Returns the subquery in a condition that has these joins; None if another SELECT has them."""
        return self._subqueries.get(id(graph))

    def flattened_graph(self, graph: JoinGraph) -> FlattenedGraph:
        """Returns the flattened joins, with only those conditions that are safe to render."""
        if id(graph) not in self._flattened:
            # The graph is kept as well, so that no other object gets its identity.
            self._flattened[id(graph)] = graph, self._flattened_of(graph)
        return self._flattened[id(graph)][1]

    def _flattened_of(self, graph: JoinGraph) -> FlattenedGraph:
        asked, unfiltered = _parted(graph.conjuncts, self._is_uncorrelated)
        if self._has_clock:
            asked = [
                fold_current_date(bounded_clock(condition, self._days), self._days) for condition in asked
            ]
        standing = replace(graph, conjuncts=tuple(asked))
        flattened = flatten_relations(standing, self._flattened_scope, self._written)
        faithful, unfaithful = _parted(flattened.graph.conjuncts, is_safe_to_render)
        more = alone_in(unfaithful).union(
            *(flattened.members.get(relation, ()) for relation in alone_in(unfiltered))
        )
        return replace(
            flattened,
            graph=replace(flattened.graph, conjuncts=tuple(faithful)),
            with_more_filters=flattened.with_more_filters | more,
        )

    def _is_uncorrelated(self, condition: exp.Expr) -> bool:
        return is_uncorrelated(condition, self._scopes, self.is_known)

    def _flattened_scope(self, scope: Scope) -> FlattenedGraph | None:
        graph = self.graph(scope)
        return None if graph is None else self.flattened_graph(graph)

    def _written(self, scope: Scope) -> InlineTable | None:
        if id(scope) not in self._written_rows:
            written = inline_table(scope, self._flattened_scope, self.is_known, is_safe_to_render)
            self._written_rows[id(scope)] = written
        return self._written_rows[id(scope)]

    def is_known(self, relation: Relation) -> bool:
        """Whether keys may be collected from the relation."""
        if isinstance(relation, InlineTable):
            return all(map(self.is_known, relation.query.find_all(exp.Table)))
        return isinstance(relation, exp.Table) and self._known.build_facts(relation) is not None

    def classes_of(self, scope: Scope) -> Mapping[ColumnOf, frozenset[ColumnOf]]:
        """Returns the classes of columns that are equal in each row of the SELECT."""
        graph = self.graph(scope)
        return {} if graph is None else self.classes_in(graph)

    def classes_in(self, graph: JoinGraph) -> Mapping[ColumnOf, frozenset[ColumnOf]]:
        """Returns the classes of columns that are equal in each row of these joins."""
        if id(graph) not in self._classes:
            self._classes[id(graph)] = column_classes(graph.equalities, self._known.family_in(graph))
        return self._classes[id(graph)]

    def has_own_rows(self, scope: Scope, relation: str) -> bool:
        """Whether no join of the SELECT may replace rows of the relation by NULLs."""
        graph = self.graph(scope)
        return graph is not None and relation not in graph.null_supplied

    def reference_count(self, scope: Scope) -> int:
        """Returns in how many places the SELECT is read."""
        return self._references[id(scope)]

    def is_shared(self, scope: Scope) -> bool:
        """Whether the SELECT is read in several places, each of which may need fewer of its rows."""
        return id(scope) in self._shared

    def is_in_a_union(self, scope: Scope) -> bool:
        """Whether the SELECT is a branch of a union, or is read by one."""
        return id(scope) in self._in_unions

    def is_read_in_a_union(self, end: int) -> bool:
        """Whether the table reference whose name ends there is in such a SELECT."""
        return end in self._referenced_in_unions

    @cached_property
    def has_filters_outside(self) -> bool:
        """Whether a SELECT filters the rows of another: then the engine may filter what is joined there.

        No filter on an aggregate moves below its aggregation.
        """
        query = self._root.expression
        if query.find(exp.Qualify) is not None:
            return True
        return any(map(self._filters_others, self._root.traverse())) or any(
            having.parent is not query or not filters_aggregates_alone(having)
            for having in query.find_all(exp.Having)
        )

    def _filters_others(self, scope: Scope) -> bool:
        graph = self.graph(scope)
        return graph is not None and any(
            not (
                scope is self._root
                and isinstance(relation, Scope)
                and asks_aggregates_alone(condition, relation, scope.expression)
            )
            for name, relation in graph.relations.items()
            if not isinstance(relation, exp.Table)
            for condition in graph.conditions_on(name)
        )

    def _pushed_down(
        self, relation: Scope, asked: Sequence[Sequence[exp.Expr]]
    ) -> Iterator[tuple[Scope, Sequence[exp.Expr]]]:
        return pushed_down(relation, asked, self._known.is_of_one_type)

    def _asked_by_joins(self, name: str, graph: JoinGraph) -> Iterator[exp.Expr]:
        family = self._known.family_in(graph)
        return join_conditions(
            name, graph, lambda one, two: family(one) == family(two) is not None, is_safe_to_render
        )

    @cached_property
    def _shared(self) -> frozenset[int]:
        return shared_selects(self._root, self._references)

    @cached_property
    def _in_unions(self) -> frozenset[int]:
        return union_branches(self._root)

    @cached_property
    def _referenced_in_unions(self) -> frozenset[int]:
        scopes = (scope for scope in self._root.traverse() if self.is_in_a_union(scope))
        return frozenset(reference_of(table) for scope in scopes for table in scope.tables)

    @cached_property
    def _has_clock(self) -> bool:
        """Whether the query reads the clock; most do not, and then no condition has to be searched."""
        return has_clock(self._root.expression)

    @cached_property
    def _subqueries(self) -> Mapping[int, exp.Expr]:
        scopes = (scope for scope in self._root.traverse() if scope.is_subquery)
        return {id(graph): scope.expression for scope in scopes if (graph := self.graph(scope)) is not None}

    @cached_property
    def _scopes(self) -> Mapping[int, Scope]:
        return {id(scope.expression): scope for scope in self._root.traverse()}


def _parted(
    conditions: Iterable[exp.Expr], is_taken: Callable[[exp.Expr], bool]
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    taken: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for condition in conditions:
        (taken if is_taken(condition) else others).append(condition)
    return taken, others
