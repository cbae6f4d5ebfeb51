"""Finds every dynamic filter that a query may have, and says why each other join gives none.

For each SELECT, detection builds the join graph, lets the rules of `candidates` propose pairs of columns, and
pushes a filter for each pair down to the scans below (`filter_pushdown`). It then checks the types and the
table's layout. Pairs that pass go to `filter_planner`, which builds the query for the keys; the others go to
`rejected_candidates`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import chain

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from service.model.filters.filtering import (
    JoinType,
    Probe,
    Reason,
)
from service.model.filters.joins import Candidate, JoinGraph
from service.model.tables.tables import TableFacts, TableName, TableSource
from service.pruning.candidates.has_joining_subqueries import has_joining_subqueries
from service.pruning.candidates.key_plan import key_plan
from service.pruning.candidates.key_type import key_type
from service.pruning.candidates.rules import RULES
from service.pruning.detection import Detection, DetectionContext
from service.pruning.filter_planner import FilterPlanner, FilterRequest
from service.pruning.join_graph.base_columns import base_columns
from service.pruning.join_graph.filter_pushdown import (
    IsOpen,
    Place,
    PushdownContext,
    Source,
    over_column,
    pushdown_targets,
)
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.known_tables import KnownTables, column_of, is_bare
from service.pruning.join_graph.query_graphs import QueryGraphs
from service.pruning.join_graph.unfiltered_references import not_understood, reference_of, unfiltered
from service.pruning.name_resolution.matches_spark_resolution import matches_spark_resolution
from service.pruning.rejected_candidates import RejectedCandidates
from service.pruning.rewrites.local_relations import (
    RelationAssignment,
    RelationContext,
    asks_for_files,
    local_relations,
)
from service.pruning.rewrites.redundant_joins import RedundantJoin, redundant_joins
from service.pruning.scan_layout.accepted_columns import accepted_columns, ambiguous_columns

_SAMPLED = "a sample chooses among all rows"
UTC_NAMES = frozenset({"UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "+00:00"})


def detect(tree: exp.Query, context: DetectionContext) -> Detection:
    """Returns every candidate of a qualified query: each is a filter, or is rejected with a reason.

    A query that is recursive, or whose names Spark may resolve to other columns, has no candidates.
    """
    is_recursive = any(each.args.get("recursive") for each in tree.find_all(exp.With))
    root = None if is_recursive else build_scope(tree)
    known = KnownTables(context.tables, context.max_build_rows)
    if root is None or not matches_spark_resolution(root, known.facts):
        return Detection((), (), unfiltered=tuple(not_understood(tree, known.facts)))
    return _Detector(root, context).detection()


def _seen_through(candidate: Candidate, source: Source) -> Candidate:
    """Returns the candidate with `probe_key` over the table's column, where SELECTs in between cast it."""
    if source.expression is None:
        return candidate
    return replace(candidate, probe_key=over_column(candidate.probe_key, source.expression))


def _rejected(candidate: Candidate, reason: Reason | None) -> Candidate:
    """Rejects the candidate for this reason, unless it already has one."""
    return replace(candidate, rejection=reason) if reason and candidate.rejection is None else candidate


def _rejection_of(table: exp.Table) -> Reason | None:
    """Returns why a table reference cannot be replaced by a filtered one; None if it can."""
    if is_bare(table):
        return None
    return Reason.PROBE_NOT_PRUNABLE if table.args.get("sample") else Reason.REWRITE_REJECTED


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
        self._assignments = FilterPlanner(context, self._known, self._graphs, self._rejections)
        self._relations: list[RelationAssignment] = []
        self._redundant: list[RedundantJoin] = []

    def detection(self) -> Detection:
        """Applies the rules to every SELECT of the query, inner ones first."""
        for scope in self._root.traverse():
            graph = self._graphs.graph(scope)
            if graph is not None:
                for each in (graph, *graph.operands):
                    self._detect(scope, each)
                self._detect_relations(scope, graph)
        self._assignments.place_together()
        return Detection(
            self._assignments.assignments,
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
            has_joining_subqueries=has_joining_subqueries(self._root),
        )

    def _detect_relations(self, scope: Scope, graph: JoinGraph) -> None:
        """Finds the tables whose rows may be in memory, and the joins that a filter may eliminate."""
        is_in_union = self._graphs.is_in_a_union(scope)
        relations = list(local_relations(graph, self._relation_context, is_in_union=is_in_union))
        if self._graphs.is_shared(scope):
            # Each reader may need fewer rows. The engine prunes by that only if it sees a filtered table.
            relations = [each for each in relations if not each.query.rows_of.predicate]
        self._relations += relations
        if self._context.parsed is not None and isinstance(scope.expression, exp.Select):
            self._redundant += redundant_joins(
                scope.expression, graph, relations, self._assignments.filtered, self._context.parsed
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
                    self._judge_scans(candidate, Place(scope, probe.relation, relation), probe.column)

    def _judge_scans(self, candidate: Candidate, place: Place, column: str) -> None:
        """Pushes the candidate's filter down to the table columns below its probe, and checks each."""
        graphs = self._graphs
        # A row that is pruned on the null-supplied side of an outer join becomes NULLs, a key of `<=>`.
        is_open: IsOpen = graphs.has_own_rows if candidate.is_null_safe else lambda _select, _relation: True
        for source in pushdown_targets(
            place, column, PushdownContext(graphs.classes_of, graphs.reference_count, is_open)
        ):
            if source.reading is not None or graphs.is_shared(place.select):
                self._assignments.share(reference_of(source.table))
            self._judge(candidate, source, lambda: self._known.type_in(place.relation, column) is not None)

    def _judge(self, candidate: Candidate, source: Source, is_of_one_type: Callable[[], bool]) -> None:
        """Places a filter on one table column, or records why there is none."""
        table = source.table
        facts = self._known.facts(table)
        if facts is None:
            self._reject_unknown(candidate, source)
            return
        known = column_of(facts, source.column)
        if known is None:
            return
        candidate, build_type = self._typed(candidate)
        probe = Probe(facts.name, (known.name,), (known.type_name,), facts.snapshot_id)
        is_prunable = self._is_prunable(facts, known.name)
        cause = source.cause if source.rejection else _SAMPLED
        candidate = _rejected(_seen_through(candidate, source), source.rejection or _rejection_of(table))
        if build_type is None:
            self._reject_build(candidate, table, probe, is_prunable)
            return
        plan = key_plan(candidate, known.type_name, build_type, self._is_utc)
        if not is_prunable:
            self._reject_column(candidate, table, probe, facts)
        elif candidate.rejection is not None:
            is_reported = candidate.rejection is Reason.PROBE_NOT_PRUNABLE
            self._rejections.reject(
                candidate, table, probe, candidate.rejection, cause if is_reported else ""
            )
        elif isinstance(plan, Reason):
            self._rejections.reject(candidate, table, probe, plan)
        elif source.expression is None and not is_of_one_type():
            # A union converts its branches to one type before they are compared.
            self._rejections.reject(candidate, table, probe, Reason.TYPE_NOT_CONVERTIBLE)
        else:
            self._assignments.place(FilterRequest(candidate, table, probe, plan, source.reading))

    def _typed(self, candidate: Candidate) -> tuple[Candidate, str | None]:
        """Returns the candidate, and the type of its build column or of the one it is computed from.

        In the latter case, `build_key` and `computed_from` say how. The type is None if neither is known.
        """
        build_type = self._known.type_name(candidate.build_graph, candidate.build)
        relation = candidate.build_graph.relations[candidate.build.relation]
        if build_type is not None or not isinstance(relation, Scope):
            return candidate, build_type
        flattened = self._graphs.flattened_graph(candidate.build_graph)
        computed = flattened.computed(candidate.build)
        column, expression = (None, None) if computed is None else computed
        build_type = None if column is None else self._known.type_name(flattened.graph, column)
        if build_type is None or expression is None or key_type(expression, build_type) is None:
            return candidate, None
        build_key = over_column(candidate.build_key, expression)
        return replace(candidate, build_key=build_key, computed_from=column), build_type

    def _is_prunable(self, facts: TableFacts, column: str) -> bool:
        if column.lower() in accepted_columns(facts):
            return True
        return column.lower() not in ambiguous_columns(facts) and self._context.is_clustered(facts, column)

    def _reject_unknown(self, candidate: Candidate, source: Source) -> None:
        """Rejects a candidate on an unexpanded view, or on a table that cannot be read again as it is."""
        is_filtered_by = candidate.build.relation in candidate.build_graph.filtered
        table = source.table
        if is_filtered_by and table.catalog and candidate.rejection is None:
            name = TableName(table.catalog, table.db, table.name)
            probe = Probe(name, (source.column,), ("unknown",), None)
            self._rejections.reject(candidate, table, probe, Reason.SOURCE_NOT_SUPPORTED)

    def _reject_build(self, candidate: Candidate, table: exp.Table, probe: Probe, is_prunable: bool) -> None:
        """Rejects a build table that cannot be read again as it is, or a column whose type gives no keys."""
        relation = candidate.build_graph.relations[candidate.build.relation]
        if isinstance(relation, exp.Table) and self._known.facts(relation) is None:
            # Filters inside it do not matter: the gateway cannot tell when its rows change.
            self._rejections.reject(
                candidate, table, probe, candidate.rejection or Reason.BUILD_NOT_DETERMINISTIC
            )
            return
        has_base = base_columns(relation, candidate.build.column) is not None
        reason = candidate.rejection or (Reason.TYPE_NOT_CONVERTIBLE if has_base else Reason.KEY_IS_COMPUTED)
        # A derived table may select rows by other means than a condition.
        is_chosen = is_prunable and not isinstance(relation, exp.Table)
        if is_chosen or candidate.build.relation in candidate.build_graph.filtered:
            self._rejections.reject(candidate, table, probe, reason)
        else:
            facts = None if is_prunable else self._known.facts(table)
            detail = "" if facts is None else self._why_not(facts, probe.columns[0])
            reason = reason if is_prunable else Reason.PROBE_NOT_PRUNABLE
            self._rejections.leave(candidate, table, probe, reason, detail)

    def _reject_column(self, candidate: Candidate, table: exp.Table, probe: Probe, facts: TableFacts) -> None:
        """Rejects a candidate on a column that accepts no filter."""
        is_filtered = candidate.build.relation in candidate.build_graph.filtered
        is_other = facts.source is TableSource.OTHER
        reason = Reason.SOURCE_NOT_SUPPORTED if is_other else Reason.PROBE_NOT_PRUNABLE
        detail = "" if is_other else self._why_not(facts, probe.columns[0])
        if is_filtered and not (is_other and candidate.rejection is not None):
            self._rejections.reject(candidate, table, probe, reason, detail)
        else:
            self._rejections.leave(candidate, table, probe, reason, detail)

    def _why_not(self, facts: TableFacts, column: str) -> str:
        """Returns, in words, why no filter is accepted on the column."""
        if facts.source is TableSource.FILES:
            return f"the table's folders are not named by {column}"
        if column.lower() in ambiguous_columns(facts):
            return f"what the files say of {column} is not sure: they were imported, or its type was widened"
        found = self._context.clustering(facts, column)
        return (
            f"no partition, sort order, bloom filter, or clustered bounds on {column}{found and ': '}{found}"
        )

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
        )

    @cached_property
    def _is_utc(self) -> bool:
        session = self._context.session
        return session.get("spark.sql.session.timeZone", session.get("timeZone", "")) in UTC_NAMES
