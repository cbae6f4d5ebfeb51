"""The query that collects a candidate's keys, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate, ColumnOf, FlattenedGraph, JoinGraph, relations_in
from service.pruning.build_side.build_query import BuildQuery, build_query
from service.pruning.build_side.having_filter import having_filter
from service.pruning.build_side.is_chosen_otherwise import is_chosen_otherwise
from service.pruning.candidates.computed_join import is_computed
from service.pruning.join_graph.known_tables import KnownTables, is_bare
from service.pruning.join_graph.query_graphs import QueryGraphs


@dataclass(frozen=True, slots=True)
class BuildSide:
    """The query for the keys of `build` in the joins `graph`.

    `is_chosen`: only a HAVING chooses the keys, so the query reads the SELECT that has it instead.
    """

    query: BuildQuery
    build: ColumnOf
    graph: JoinGraph
    allowed: frozenset[str]
    is_chosen: bool


class BuildSides:
    """The build sides of one query's candidates; with `are_whole`, also those that nothing filters."""

    def __init__(self, known: KnownTables, graphs: QueryGraphs, *, are_whole: bool = False) -> None:
        self._known = known
        self._graphs = graphs
        self._are_whole = are_whole

    def keys(self, candidate: Candidate) -> BuildSide | Reason:
        """Returns the build side that collects the candidate's keys, or the reason why there is none."""
        flattened = self._graphs.flattened_graph(candidate.build_graph)
        usable = frozenset(
            name for name, relation in flattened.graph.relations.items() if self._graphs.is_known(relation)
        )
        build = candidate.computed_from or flattened.column(candidate.build)
        if build is None or build.relation not in usable:
            return self._reason_unusable(build, flattened)
        joined = (flattened.members[relation] for relation in (*candidate.allowed, candidate.build.relation))
        allowed = usable.intersection(chain.from_iterable(joined))
        is_null_safe = candidate.is_null_safe
        query = build_query(flattened.graph, [build], allowed, self._known.facts, is_null_safe)
        is_chosen = query is None
        if query is None and candidate.computed_from is None:
            query = self._chosen(candidate)
        if query is None and self._are_whole:
            is_chosen = False
            query = build_query(
                flattened.graph, [build], allowed, self._known.facts, is_null_safe, is_whole=True
            )
        if query is None or (is_null_safe and build.relation in flattened.graph.null_supplied):
            # In the latter case, some of its NULLs come from a join around it.
            return self._reason_unfiltered(candidate, allowed, flattened)
        return BuildSide(query, build, flattened.graph, allowed, is_chosen)

    def _chosen(self, candidate: Candidate) -> BuildQuery | None:
        """Returns the query for keys of groups that only a HAVING chooses; None if there is none."""
        select, column = self._build_select(candidate)
        found = None if select is None else having_filter(select, column, self._known.build_facts)
        if found is None:
            return None
        graph, key = found
        whole = frozenset(graph.relations)
        return build_query(graph, [key], whole, self._known.facts, candidate.is_null_safe)

    def _build_select(self, candidate: Candidate) -> tuple[exp.Expr | None, ColumnOf | str]:
        """Returns the SELECT that has the keys, None for a table, and the column that they are in."""
        graph, build = candidate.build_graph, candidate.build
        subquery = self._graphs.subquery_of(graph)
        if candidate.join_type is JoinType.LEFT_SEMI and subquery is not None:
            return subquery, build
        relation = graph.relations[build.relation]
        return relation.expression if isinstance(relation, Scope) else None, build.column

    def _reason_unusable(self, build: ColumnOf | None, flattened: FlattenedGraph) -> Reason:
        """Returns why keys are not collected from the relation that has them."""
        relation = None if build is None else flattened.graph.relations.get(build.relation)
        if relation is None or isinstance(relation, Scope):
            return Reason.KEY_IS_COMPUTED
        read = [relation] if isinstance(relation, exp.Table) else relation.query.find_all(exp.Table)
        if any(self._known.facts(table) is None or not is_bare(table) for table in read):
            return Reason.BUILD_NOT_DETERMINISTIC
        return Reason.NOT_WORTH_COLLECTING

    def _reason_unfiltered(
        self, candidate: Candidate, allowed: frozenset[str], flattened: FlattenedGraph
    ) -> Reason:
        """Returns why no query filters the keys: nothing does, or the filter cannot be queried by itself."""
        graph = candidate.build_graph
        select, _ = self._build_select(candidate)
        if not allowed.isdisjoint(flattened.with_more_filters):
            return Reason.BUILD_NOT_DETERMINISTIC
        if select is not None and is_chosen_otherwise(select):
            return Reason.BUILD_NOT_DETERMINISTIC
        if not flattened.graph.filtered.isdisjoint(allowed) and any(
            is_computed(conjunct) and candidate.probe.relation not in relations_in(conjunct)
            for conjunct in graph.conjuncts
        ):
            # A filtered relation is joined to it, but by an equality of computed values.
            return Reason.KEY_IS_COMPUTED
        return Reason.BUILD_HAS_NO_FILTER
