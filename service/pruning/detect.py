"""Finds every dynamic filter that a query may have: the order in which the rules are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import chain, islice

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from service.model.filtering import (
    Build,
    DynamicFilter,
    Feed,
    FilterForm,
    FilterRecord,
    FilterSource,
    JoinType,
    KeySpan,
    Probe,
    Reason,
)
from service.model.joins import Candidate, ColumnOf, JoinGraph, Relation
from service.model.query import Parameters
from service.model.sql import ParsedQuery
from service.model.tables import TableAt, TableFacts, TableName, TableSource
from service.pruning.accepted_columns import accepted_columns
from service.pruning.build_query import BuildQuery, build_query, fingerprint
from service.pruning.composite_keys import FoundKey, composite_keys
from service.pruning.converted_join import converted_join
from service.pruning.converted_query import converted_query
from service.pruning.droppable_joins import DroppableJoin, droppable_joins
from service.pruning.inner_join import inner_join
from service.pruning.key_plan import KeyPlan, key_plan
from service.pruning.known_tables import KnownTables, column_of, is_bare
from service.pruning.lineage import narrowed_by
from service.pruning.local_relations import (
    RelationContext,
    RelationPlacement,
    asks_for_files,
    local_relations,
)
from service.pruning.outer_join import outer_join
from service.pruning.query_graphs import QueryGraphs
from service.pruning.semi_join import semi_join

# Sets of keys of one query: each is a query of its own, and the text may ask for any number.
MAX_SETS = 64
# Relations of one key are candidates for each other, and their build sides take milliseconds each to write.
MAX_BUILD_SIDES = 256
# A fact or two on a build side; of more, looking costs more than narrowing saves.
MAX_FEEDS = 2
UTC_NAMES = frozenset({"UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "+00:00"})


@dataclass(frozen=True, slots=True)
class Placement:
    """A filter, and where in the text the name of the table that it narrows ends.

    `is_shared`: what it narrows is read in several places, each of which may ask for less.
    """

    filter: DynamicFilter
    reference_end: int
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Detection:
    """The filters to collect, and the candidates that are none.

    `relations` are the tables whose rows may be in memory, `droppable` the joins that a filter may stand for.
    """

    placements: tuple[Placement, ...]
    refused: tuple[FilterRecord, ...]
    relations: tuple[RelationPlacement, ...] = ()
    droppable: tuple[DroppableJoin, ...] = ()


@dataclass(frozen=True, slots=True)
class DetectionContext:
    """What detection knows besides the tree. Keys of `tables` are names in lower case, at snapshots or now.

    `is_tight` tells whether the bounds of a column differ so from file to file that a filter on it pays.
    `days` are those that it may be for the session when the query runs; conditions on the current day are
    left out if there are none.
    """

    tables: Mapping[TableAt, TableFacts]
    parameters: Parameters
    session: Mapping[str, str]
    max_build_rows: int
    is_tight: Callable[[TableFacts, str], bool] = lambda _facts, _column: False
    days: tuple[date, ...] = ()
    is_named: Callable[[str], bool] = lambda _column: True
    max_relation_rows: int = 10_000
    parsed: ParsedQuery | None = None


def detect(tree: exp.Query, context: DetectionContext) -> Detection:
    """Every candidate of a qualified query, each either a filter or refused with its reason."""
    if any(each.args.get("recursive") for each in tree.find_all(exp.With)):
        return Detection((), ())
    root = build_scope(tree)
    return Detection((), ()) if root is None else _Detector(root, context).detection()


class _Detector:
    """One query's detection; holds what is computed once for each SELECT."""

    def __init__(self, root: Scope, context: DetectionContext) -> None:
        self._root = root
        self._context = context
        self._known = KnownTables(context.tables, context.max_build_rows)
        self._graphs = QueryGraphs(root, self._known, context.days)
        self._placements: dict[tuple[int, tuple[str, ...], str], Placement] = {}
        self._found: list[FoundKey] = []
        self._fingerprints: set[str] = set()
        self._shared_ends: set[int] = set()
        self._build_sides = 0
        self._refused: dict[tuple[object, ...], FilterRecord] = {}
        self._relations: list[RelationPlacement] = []
        self._droppable: list[DroppableJoin] = []

    def detection(self) -> Detection:
        for scope in self._root.traverse():
            graph = self._graphs.graph(scope)
            if graph is not None:
                self._detect(scope, graph)
                self._detect_relations(scope, graph)
        for keys in composite_keys(self._found):
            self._place_together(keys)
        return Detection(
            tuple(self._placements.values()),
            tuple(self._refused.values()),
            tuple(self._relations),
            tuple(self._droppable),
        )

    def _detect_relations(self, scope: Scope, graph: JoinGraph) -> None:
        relations = list(local_relations(graph, self._relation_context))
        if self._graphs.is_shared(scope):
            # Each place may ask for less: the engine prunes by that, as long as it sees a filtered table.
            relations = [each for each in relations if not each.query.rows_of.predicate]
        self._relations += relations
        if self._context.parsed is not None and isinstance(scope.expression, exp.Select):
            narrowed = {(end + 1, columns[0].lower()) for end, columns, _ in self._placements}
            self._droppable += droppable_joins(
                scope.expression, graph, relations, narrowed, self._context.parsed
            )

    def _detect(self, scope: Scope, graph: JoinGraph) -> None:
        classes = self._graphs.classes_of(scope)
        found = (
            *inner_join(graph, classes),
            *converted_join(graph, classes),
            *outer_join(graph),
            *semi_join(scope, graph, self._graphs.graph),
        )
        for candidate in found:
            if candidate.build.relation not in candidate.build_graph.relations:
                continue
            same = classes.get(candidate.probe) if candidate.join_type is JoinType.LEFT_SEMI else None
            for probe in sorted(same or {candidate.probe}):
                relation = graph.relations.get(probe.relation)
                if relation is not None:
                    self._judge_scans(candidate, relation, probe.column, self._graphs.is_shared(scope))

    def _judge_scans(self, candidate: Candidate, relation: Relation, column: str, is_shared: bool) -> None:
        for table, name in narrowed_by(relation, column, self._graphs.classes_of, self._graphs.mentions_of):
            if is_shared:
                self._shared_ends.add(table.this.meta.get("end", -1))
            self._judge(candidate, table, name, lambda: self._known.type_in(relation, column) is not None)

    def _judge(
        self, candidate: Candidate, table: exp.Table, column: str, is_of_one_type: Callable[[], bool]
    ) -> None:
        facts = self._known.facts(table)
        if facts is None:
            self._refuse_unknown(candidate, table, column)
        field = None if facts is None or not is_bare(table) else column_of(facts, column)
        if facts is None or field is None:
            return
        build_type = self._known.type_name(candidate.build_graph, candidate.build)
        if build_type is None:
            self._refuse_build(
                candidate, Probe(facts.name, (field.name,), (field.type_name,), facts.snapshot_id)
            )
            return
        type_name = field.type_name
        probe = Probe(facts.name, (field.name,), (type_name,), facts.snapshot_id)
        plan = key_plan(candidate, type_name, build_type, self._is_utc)
        if column not in accepted_columns(facts) and not self._context.is_tight(facts, field.name):
            self._refuse_column(candidate, probe, facts)
        elif candidate.refusal is not None:
            self._refuse(candidate, probe, candidate.refusal)
        elif isinstance(plan, Reason):
            self._refuse(candidate, probe, plan)
        elif not (plan.is_plain or is_of_one_type()):
            # The branches of a union are brought to one type before they are compared.
            self._refuse(candidate, probe, Reason.TYPE_NOT_CONVERTIBLE)
        else:
            self._place(candidate, probe, table, plan)

    def _refuse_unknown(self, candidate: Candidate, table: exp.Table, column: str) -> None:
        """A view that stays closed, or a table that cannot be read again as it is."""
        is_filtered_by = candidate.build.relation in candidate.build_graph.filtered
        if is_filtered_by and table.catalog and candidate.refusal is None:
            name = TableName(table.catalog, table.db, table.name)
            self._refuse(candidate, Probe(name, (column,), ("unknown",), None), Reason.SOURCE_NOT_SUPPORTED)

    def _refuse_build(self, candidate: Candidate, probe: Probe) -> None:
        relation = candidate.build_graph.relations[candidate.build.relation]
        if isinstance(relation, exp.Table) and self._known.facts(relation) is None:
            # Whatever filters it within: nobody can tell when its rows change.
            self._refuse(candidate, probe, candidate.refusal or Reason.BUILD_NOT_DETERMINISTIC)

    def _refuse_column(self, candidate: Candidate, probe: Probe, facts: TableFacts) -> None:
        if candidate.build.relation not in candidate.build_graph.filtered:
            return
        if facts.source is not TableSource.OTHER:
            self._refuse(candidate, probe, Reason.PROBE_NOT_PRUNABLE)
        elif candidate.refusal is None:
            self._refuse(candidate, probe, Reason.SOURCE_NOT_SUPPORTED)

    def _place(self, candidate: Candidate, probe: Probe, table: exp.Table, plan: KeyPlan) -> None:
        opened = self._graphs.opened_graph(candidate.build_graph)
        usable = frozenset(
            name for name, each in opened.graph.relations.items() if self._graphs.is_known(each)
        )
        build = opened.column(candidate.build)
        if build is None or build.relation not in usable or self._has_enough():
            self._refuse(candidate, probe, Reason.NOT_WORTH_COLLECTING)
            return
        joined = (opened.members[each] for each in (*candidate.allowed, candidate.build.relation))
        allowed = usable.intersection(chain.from_iterable(joined))
        self._build_sides += 1
        query = build_query(opened.graph, [build], allowed, self._known.facts)
        if query is None:
            is_unclear = not allowed.isdisjoint(opened.with_more_filters)
            reason = Reason.BUILD_NOT_DETERMINISTIC if is_unclear else Reason.BUILD_HAS_NO_FILTER
            self._refuse(candidate, probe, reason)
            return
        query = converted_query(query, plan.expression, plan.cast_to)
        end = table.this.meta.get("end")
        if end is None:
            return
        is_converted = plan.cast_to is not None or plan.expression is not None
        feeds = () if is_converted else tuple(self._feeds(opened.graph, query, allowed))
        self._add(candidate, probe, query, (plan.type_name,), plan.span, end, is_converted, feeds)
        if plan.is_plain:
            self._found.append(FoundKey(candidate, probe, build, opened.graph, allowed, end))

    def _has_enough(self) -> bool:
        return len(self._fingerprints) >= MAX_SETS or self._build_sides >= MAX_BUILD_SIDES

    def _feeds(self, graph: JoinGraph, query: BuildQuery, allowed: frozenset[str]) -> Iterator[Feed]:
        """Filters on the tables of a query for keys, by its own other tables."""
        for fed, by, type_name in islice(self._fed_columns(graph, query), MAX_FEEDS):
            others = allowed & query.aliases.keys() - {fed.relation}
            feeding = build_query(graph, [by], others, self._known.facts)
            if feeding is not None:
                key = fingerprint(feeding, type_name, self._context.parameters, self._context.session)
                yield Feed(key, query.aliases[fed.relation], fed.column, type_name)

    def _fed_columns(self, graph: JoinGraph, query: BuildQuery) -> Iterator[tuple[ColumnOf, ColumnOf, str]]:
        """Columns by which a table of the query may be narrowed, what they equal there, and their types."""
        family = self._known.family_in(graph)
        for pair in graph.equalities if len(query.aliases) > 1 else ():
            for fed, by in (pair, pair[::-1]):
                table = graph.relations.get(fed.relation)
                is_read = {fed.relation, by.relation} <= query.aliases.keys()
                facts = self._known.facts(table) if is_read and isinstance(table, exp.Table) else None
                if facts is None or fed.column not in accepted_columns(facts):
                    continue
                type_name = self._known.type_name(graph, fed)
                if type_name is not None and family(fed) == family(by) is not None:
                    yield fed, by, type_name

    def _place_together(self, keys: Sequence[FoundKey]) -> None:
        """Where tuples of keys say more than the keys of each column do."""
        first = keys[0]
        builds = [each.build for each in keys]
        if self._has_enough():
            return
        query = build_query(first.graph, builds, first.allowed, self._known.facts)
        if query is None:
            return
        probe = replace(
            first.probe,
            columns=tuple(each.probe.columns[0] for each in keys),
            type_names=tuple(each.probe.type_names[0] for each in keys),
        )
        self._add(first.candidate, probe, query, probe.type_names, KeySpan.VALUE, first.end)

    def _add(
        self,
        candidate: Candidate,
        probe: Probe,
        query: BuildQuery,
        types: tuple[str, ...],
        span: KeySpan,
        end: int,
        is_converted: bool = False,
        feeds: tuple[Feed, ...] = (),
    ) -> None:
        key = fingerprint(query, ", ".join(types), self._context.parameters, self._context.session)
        self._fingerprints.add(key)
        place = (end, probe.columns, key)
        if place in self._placements:
            return
        found = DynamicFilter(
            filter_id=f"df{len(self._placements) + 1}",
            join_type=candidate.join_type,
            probe=probe,
            build=query.build,
            filtering_query=query.sql,
            fingerprint=key,
            parameter_names=query.parameter_names,
            collected_types=types,
            span=span,
            is_converted=is_converted,
            feeds=feeds,
        )
        self._placements[place] = Placement(found, end + 1, end in self._shared_ends)

    def _refuse(self, candidate: Candidate, probe: Probe, reason: Reason) -> None:
        relation = candidate.build_graph.relations[candidate.build.relation]
        facts = self._known.facts(relation) if isinstance(relation, exp.Table) else None
        build = Build((facts.name,) if facts else (), (candidate.build.column,), "", ())
        place = (probe.table, probe.snapshot_id, probe.columns, build.tables, build.columns, reason)
        self._refused[place] = FilterRecord(
            "", candidate.join_type, probe, build, FilterSource.NONE, FilterForm.NONE, reason
        )

    @cached_property
    def _relation_context(self) -> RelationContext:
        context = self._context
        return RelationContext(
            facts_of=self._known.pinned_facts,
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
