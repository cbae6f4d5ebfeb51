"""Finds every dynamic filter that a query may have, and says why each other join gives none.

For each SELECT, detection builds the join graph and lets the rules (`candidates.rules`) propose pairs of
columns. `scan_checks` pushes a filter for each pair down to the scans below, and checks the types and the
table's layout. Pairs that pass go to `filter_planner`, which builds the query for the keys; the others go to
`rejected_candidates`.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.joins import JoinGraph
from service.pruning.candidates.has_joining_subqueries import has_joining_subqueries
from service.pruning.candidates.rules import RULES
from service.pruning.detection import Detection, DetectionContext
from service.pruning.filter_planner import FilterPlanner
from service.pruning.join_graph.filter_pushdown import Place
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.known_tables import KnownTables
from service.pruning.join_graph.query_graphs import QueryGraphs
from service.pruning.join_graph.unfiltered_references import not_understood, unfiltered
from service.pruning.name_resolution.matches_spark_resolution import matches_spark_resolution
from service.pruning.rejected_candidates import RejectedCandidates
from service.pruning.rewrites.local_relations import (
    RelationAssignment,
    RelationContext,
    asks_for_files,
    local_relations,
)
from service.pruning.rewrites.redundant_joins import RedundantJoin, redundant_joins
from service.pruning.scan_checks import ScanChecks


def detect(tree: exp.Query, context: DetectionContext) -> Detection:
    """Returns every candidate of a qualified query: each is a filter, or is rejected with a reason.

    A query that is recursive, or whose names Spark may resolve to other columns, has no candidates.
    """
    is_recursive = any(clause.args.get("recursive") for clause in tree.find_all(exp.With))
    root = None if is_recursive else build_scope(tree)
    known = KnownTables(context.tables, context.max_build_rows)
    if root is None or not matches_spark_resolution(root, known.facts):
        return Detection((), (), unfiltered=tuple(not_understood(tree, known.facts)))
    return _Detector(root, context).detection()


class _Detector:
    """The detection of one query; keeps what is computed once for each SELECT."""

    def __init__(self, root: Scope, context: DetectionContext) -> None:
        self._root = root
        self._context = context
        self._known = KnownTables(context.tables, context.max_build_rows)
        self._graphs = QueryGraphs(root, self._known, context.days)
        parsed = context.parsed
        self._rejections = RejectedCandidates(
            self._known.facts, (lambda _end: None) if parsed is None else parsed.label_at
        )
        self._planner = FilterPlanner(context, self._known, self._graphs, self._rejections)
        self._checks = ScanChecks(context, self._known, self._graphs, self._planner, self._rejections)
        self._relations: list[RelationAssignment] = []
        self._redundant: list[RedundantJoin] = []

    def detection(self) -> Detection:
        """Applies the rules to every SELECT of the query, inner ones first."""
        for scope in self._root.traverse():
            graph = self._graphs.graph(scope)
            if graph is not None:
                for operand in (graph, *graph.operands):
                    self._detect(scope, operand)
                self._detect_relations(scope, graph)
        self._planner.place_together()
        return Detection(
            self._planner.assignments,
            self._rejections.records,
            tuple(
                unfiltered(
                    self._root,
                    self._graphs.graph,
                    self._known.facts,
                    self._rejections.reported,
                    self._rejections.named,
                )
            ),
            tuple(self._relations),
            tuple(self._redundant),
            has_joining_subqueries=self._has_joining_subqueries,
            has_filters_outside=self._graphs.has_filters_outside,
        )

    def _detect_relations(self, scope: Scope, graph: JoinGraph) -> None:
        """Finds the tables whose rows may be in memory, and the joins that a filter may eliminate."""
        is_in_union = self._graphs.is_in_a_union(scope)
        relations = list(local_relations(graph, self._relation_context, is_in_union=is_in_union))
        if self._graphs.is_shared(scope):
            # Each reader may need fewer rows. The engine prunes by that only if it sees a filtered table.
            relations = [relation for relation in relations if not relation.query.rows_of.predicate]
        self._relations += relations
        if self._context.parsed is not None and isinstance(scope.expression, exp.Select):
            self._redundant += redundant_joins(
                scope.expression, graph, relations, self._planner.filtered, self._context.parsed
            )

    def _detect(self, scope: Scope, graph: JoinGraph) -> None:
        """Finds the candidates in joins of a SELECT, and follows each to the scans that it may filter."""
        classes = self._graphs.classes_in(graph)
        select = JoinedSelect(scope, graph, classes, self._graphs.graph)
        for candidate in chain.from_iterable(rule(select) for rule in RULES):
            if candidate.build.relation not in candidate.build_graph.relations:
                continue
            # An inner join has every pair of a class already; a semi join has only the column that it names.
            is_of_class = candidate.join_type is JoinType.LEFT_SEMI and not candidate.is_null_safe
            same = classes.get(candidate.probe) if is_of_class else None
            for probe in sorted(same or {candidate.probe}):
                relation = graph.relations.get(probe.relation)
                if relation is not None:
                    self._checks.check(candidate, Place(scope, probe.relation, relation), probe.column)

    @cached_property
    def _has_joining_subqueries(self) -> bool:
        return has_joining_subqueries(self._root)

    @cached_property
    def _relation_context(self) -> RelationContext:
        context = self._context
        fetched = KnownTables(context.tables, min(context.max_build_rows, context.max_fetched_rows))
        return RelationContext(
            facts_of=fetched.pinned_facts,
            is_named=context.is_named,
            max_rows=context.max_relation_rows,
            parameters=context.parameters,
            session=context.session,
            asks_for_files=context.parsed is not None and asks_for_files(context.parsed.sql),
            # An empty side of a join must be known before the engine turns subqueries into joins. It finds
            # out too late whether any of the wider rows meets the text's conditions.
            takes_wider=not self._has_joining_subqueries,
        )
