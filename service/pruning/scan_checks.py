"""Checks the scans that a candidate's filter reaches: the types of its keys, and the layout of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.dynamic_filter import Probe
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate
from service.model.tables.tables import TableFacts, TableName, TableSource
from service.pruning.candidates.key_plan import key_plan
from service.pruning.candidates.key_type import key_type
from service.pruning.detection import DetectionContext
from service.pruning.filter_planner import FilterPlanner
from service.pruning.filter_request import FilterRequest
from service.pruning.join_graph.base_columns import base_columns
from service.pruning.join_graph.filter_pushdown import (
    IsOpen,
    Place,
    PushdownContext,
    Source,
    over_column,
    pushdown_targets,
)
from service.pruning.join_graph.known_tables import KnownTables, column_of, is_bare
from service.pruning.join_graph.query_graphs import QueryGraphs
from service.pruning.join_graph.unfiltered_references import reference_of
from service.pruning.rejected_candidates import RejectedCandidates
from service.pruning.scan_layout.accepted_columns import accepted_columns, ambiguous_columns

_SAMPLED = "a sample chooses among all rows"
UTC_NAMES = frozenset({"UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "+00:00"})


class ScanChecks:
    """Hands each candidate to the planner where a scan accepts its keys, and rejects it elsewhere."""

    def __init__(
        self,
        context: DetectionContext,
        known: KnownTables,
        graphs: QueryGraphs,
        planner: FilterPlanner,
        rejections: RejectedCandidates,
    ) -> None:
        self._context = context
        self._known = known
        self._graphs = graphs
        self._planner = planner
        self._rejections = rejections

    def check(self, candidate: Candidate, place: Place, column: str) -> None:
        """Pushes the candidate's filter down to the table columns below its probe, and checks each."""
        graphs = self._graphs
        # A row that is pruned on the null-supplied side of an outer join becomes NULLs, a key of `<=>`.
        is_open: IsOpen = graphs.has_own_rows if candidate.is_null_safe else lambda _select, _relation: True
        for source in pushdown_targets(
            place, column, PushdownContext(graphs.classes_of, graphs.reference_count, is_open)
        ):
            if source.reading is not None or graphs.is_shared(place.select):
                self._planner.share(reference_of(source.table))
            self._check_scan(
                candidate, source, lambda: self._known.type_in(place.relation, column) is not None
            )

    def _check_scan(self, candidate: Candidate, source: Source, is_of_one_type: Callable[[], bool]) -> None:
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
            self._planner.place(FilterRequest(candidate, table, probe, plan, source.reading))

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
        if facts.restriction.is_masked(column):
            # Files hold other values than the query sees.
            return False
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
        if facts.restriction.is_masked(column):
            return f"a policy masks {column}"
        if facts.source is TableSource.FILES:
            return f"{column} does not name the table's folders"
        if column.lower() in ambiguous_columns(facts):
            return f"statistics of {column} cannot be trusted: files were imported, or its type was widened"
        found = self._context.clustering(facts, column)
        return (
            f"no partition, sort order, bloom filter, or clustered bounds on {column}{found and ': '}{found}"
        )

    @cached_property
    def _is_utc(self) -> bool:
        session = self._context.session
        return session.get("spark.sql.session.timeZone", session.get("timeZone", "")) in UTC_NAMES


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
