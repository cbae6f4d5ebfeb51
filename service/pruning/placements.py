"""The filters of a query: from a candidate to the query that collects its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filtering import DynamicFilter, Feed, JoinType, KeySpan, Probe, Reason
from service.model.joins import Candidate, ColumnOf, JoinGraph, OpenedGraph, relations_in
from service.model.tables import TableFacts
from service.pruning.affordable_build import affordable_build
from service.pruning.build_query import BuildQuery, build_query, fingerprint
from service.pruning.chosen_rows import chosen_rows
from service.pruning.composite_keys import FoundKey, composite_keys
from service.pruning.computed_join import is_computed
from service.pruning.converted_query import converted_query
from service.pruning.detection import DetectionContext, Placement
from service.pruning.feeding import feeding
from service.pruning.is_chosen_otherwise import is_chosen_otherwise
from service.pruning.key_plan import KeyPlan
from service.pruning.known_tables import KnownTables, is_bare
from service.pruning.query_graphs import QueryGraphs
from service.pruning.refusals import Refusals

# Sets of keys of one query: each is a query of its own, and the text may ask for any number.
MAX_SETS = 64
# Relations of one key are candidates for each other, and their build sides take milliseconds each to write.
MAX_BUILD_SIDES = 256


@dataclass(frozen=True, slots=True)
class _Place:
    """A mention of a table, whose name ends there in the text, and the candidate that it is narrowed for."""

    candidate: Candidate
    probe: Probe
    plan: KeyPlan
    end: int


class Placements:
    """One query's, each for one mention of a table. What becomes of no filter is refused, and told why."""

    def __init__(
        self, context: DetectionContext, known: KnownTables, graphs: QueryGraphs, refusals: Refusals
    ) -> None:
        self._context = context
        self._known = known
        self._graphs = graphs
        self._refusals = refusals
        self._placements: dict[tuple[int, tuple[str, ...], str], Placement] = {}
        self._found: list[FoundKey] = []
        self._fingerprints: set[str] = set()
        self._shared_ends: set[int] = set()
        self._build_sides = 0

    @property
    def placed(self) -> tuple[Placement, ...]:
        """Those that there are by now."""
        return tuple(self._placements.values())

    @property
    def narrowed(self) -> set[tuple[int, str]]:
        """Where the names of narrowed tables end in the text, with the first column of each key."""
        return {(end + 1, columns[0].lower()) for end, columns, _ in self._placements}

    def share(self, end: int) -> None:
        """The SELECT that mentions this table is read in several places."""
        self._shared_ends.add(end)

    def place_together(self) -> None:
        """Once all are placed: tuples of keys, where they say more than the keys of each column do."""
        for keys in composite_keys(self._found):
            self._place_together(keys)

    def place(self, candidate: Candidate, table: exp.Table, probe: Probe, plan: KeyPlan) -> None:
        """Narrows a mention of a table by the keys of the candidate's build side; or refuses it, and why."""
        opened = self._graphs.opened_graph(candidate.build_graph)
        usable = frozenset(
            name for name, each in opened.graph.relations.items() if self._graphs.is_known(each)
        )
        build = opened.column(candidate.build)
        if build is None or build.relation not in usable or self._has_enough():
            self._refusals.refuse(candidate, table, probe, self._reason_unusable(build, opened))
            return
        joined = (opened.members[each] for each in (*candidate.allowed, candidate.build.relation))
        allowed = usable.intersection(chain.from_iterable(joined))
        self._build_sides += 1
        is_null_safe = candidate.is_null_safe
        query = build_query(opened.graph, [build], allowed, self._known.facts, is_null_safe)
        is_chosen = query is None
        if is_chosen:
            query = self._chosen(candidate)
        if query is None or (is_null_safe and build.relation in opened.graph.null_supplied):
            # In the latter case, its NULLs come from a join around it as well.
            self._refusals.refuse(
                candidate, table, probe, self._reason_unfiltered(candidate, allowed, opened)
            )
            return
        end = table.this.meta.get("end")
        if end is None:
            self._refusals.refuse(candidate, table, probe, Reason.REWRITE_REJECTED)
            return
        place = _Place(candidate, probe, plan, end)
        self._add_converted(place, query, None if is_chosen else opened.graph, allowed)
        self._refusals.note_filter(end)
        # Most keys come from one relation, which cannot be left out.
        facts = self._known.facts(table) if len(query.aliases) > 1 and not is_chosen else None
        if facts is not None:
            self._place_fewer(place, build, opened.graph, allowed, facts)
        if plan.is_plain and not (is_null_safe or is_chosen):
            self._found.append(FoundKey(candidate, probe, build, opened.graph, allowed, end))

    def _place_fewer(
        self, place: _Place, build: ColumnOf, graph: JoinGraph, allowed: frozenset[str], probe: TableFacts
    ) -> None:
        """Beside keys that may cost more than they spare, those that less has to be read for."""
        fewer = affordable_build(graph, build, allowed, probe, self._known.facts)
        if fewer is None or self._has_enough():
            return
        query = build_query(graph, [build], fewer, self._known.facts, place.candidate.is_null_safe)
        if query is not None:
            self._add_converted(place, query, graph, fewer)

    def _add_converted(
        self, place: _Place, query: BuildQuery, graph: JoinGraph | None, allowed: frozenset[str]
    ) -> None:
        """A filter by one column's keys; `graph` has the relations that they come from, if it is known."""
        plan = place.plan
        is_converted = plan.cast_to is not None or plan.expression is not None
        converted = converted_query(query, plan.expression, plan.cast_to, place.candidate.is_null_safe)
        feeds = () if is_converted or graph is None else tuple(self._feeds(graph, converted, allowed))
        self._add(
            place.candidate,
            place.probe,
            converted,
            (plan.type_name,),
            plan.span,
            place.end,
            is_converted,
            feeds,
        )

    def _chosen(self, candidate: Candidate) -> BuildQuery | None:
        """What collects the keys of groups that only a HAVING chooses."""
        select, column = self._build_select(candidate)
        found = None if select is None else chosen_rows(select, column, self._known.build_facts)
        if found is None:
            return None
        graph, key = found
        whole = frozenset(graph.relations)
        return build_query(graph, [key], whole, self._known.facts, candidate.is_null_safe)

    def _build_select(self, candidate: Candidate) -> tuple[exp.Expr | None, ColumnOf | str]:
        """The SELECT that has the keys, if it is no table, and which of its columns they are."""
        graph, build = candidate.build_graph, candidate.build
        subquery = self._graphs.subquery_of(graph)
        if candidate.join_type is JoinType.LEFT_SEMI and subquery is not None:
            return subquery, build
        relation = graph.relations[build.relation]
        return relation.expression if isinstance(relation, Scope) else None, build.column

    def _reason_unusable(self, build: ColumnOf | None, opened: OpenedGraph) -> Reason:
        """Why keys are not collected from what has them."""
        if self._has_enough():
            return Reason.NOT_WORTH_COLLECTING
        relation = None if build is None else opened.graph.relations.get(build.relation)
        if relation is None or isinstance(relation, Scope):
            return Reason.KEY_IS_COMPUTED
        read = [relation] if isinstance(relation, exp.Table) else relation.query.find_all(exp.Table)
        if any(self._known.facts(each) is None or not is_bare(each) for each in read):
            return Reason.BUILD_NOT_DETERMINISTIC
        return Reason.NOT_WORTH_COLLECTING

    def _reason_unfiltered(
        self, candidate: Candidate, allowed: frozenset[str], opened: OpenedGraph
    ) -> Reason:
        """Why nothing filters the keys: nothing does, or what does cannot be asked by itself."""
        graph = candidate.build_graph
        select, _ = self._build_select(candidate)
        if not allowed.isdisjoint(opened.with_more_filters):
            return Reason.BUILD_NOT_DETERMINISTIC
        if select is not None and is_chosen_otherwise(select):
            return Reason.BUILD_NOT_DETERMINISTIC
        if not opened.graph.filtered.isdisjoint(allowed) and any(
            is_computed(each) and candidate.probe.relation not in relations_in(each)
            for each in graph.conjuncts
        ):
            # What is filtered is joined to it, over an equality that is not followed.
            return Reason.KEY_IS_COMPUTED
        return Reason.BUILD_HAS_NO_FILTER

    def _has_enough(self) -> bool:
        return len(self._fingerprints) >= MAX_SETS or self._build_sides >= MAX_BUILD_SIDES

    def _feeds(self, graph: JoinGraph, query: BuildQuery, allowed: frozenset[str]) -> Iterator[Feed]:
        for fed, keys, type_name in feeding(graph, query, allowed, self._known):
            key = fingerprint(keys, type_name, self._context.parameters, self._context.session)
            yield Feed(key, query.aliases[fed.relation], fed.column, type_name)

    def _place_together(self, keys: Sequence[FoundKey]) -> None:
        first = keys[0]
        probe = replace(
            first.probe,
            columns=tuple(each.probe.columns[0] for each in keys),
            type_names=tuple(each.probe.type_names[0] for each in keys),
        )
        if self._has_enough():
            together = [each.candidate for each in keys]
            self._refusals.refuse_together(together, first.end, probe, Reason.NOT_WORTH_COLLECTING)
            return
        query = build_query(first.graph, [each.build for each in keys], first.allowed, self._known.facts)
        if query is None:
            return
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
            is_null_safe=candidate.is_null_safe,
        )
        self._placements[place] = Placement(found, end + 1, end in self._shared_ends)
