"""Turns candidates into filters, each with the query that collects its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from service.model.filters.dynamic_filter import DynamicFilter, KeyDependency, KeySpan, Probe
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate, JoinGraph
from service.model.filters.key_selection import KeyFamily
from service.model.tables.tables import TableFacts
from service.pruning.build_side.affordable_build import affordable_build
from service.pruning.build_side.build_query import (
    BuildQuery,
    build_query,
    family_of,
    fingerprint,
    series_of,
)
from service.pruning.build_side.build_sides import BuildSide, BuildSides
from service.pruning.build_side.composite_keys import FoundKey, composite_keys
from service.pruning.build_side.key_dependencies import key_dependencies
from service.pruning.build_side.union_keys import union_keys
from service.pruning.detection import DetectionContext, FilterAssignment
from service.pruning.filter_request import FilterRequest
from service.pruning.join_graph.filter_pushdown import SHARED, Reading
from service.pruning.join_graph.known_tables import KnownTables
from service.pruning.join_graph.query_graphs import QueryGraphs
from service.pruning.rejected_candidates import RejectedCandidates
from service.pruning.rewrites.has_all_filters import has_all_filters
from service.pruning.scan_layout.is_worth_collecting import reading_cost

# Key sets of one query. Each takes a query of its own, and a text could ask for any number.
MAX_SETS = 64
# Relations that share a key are candidates for each other, and each build side takes milliseconds to write.
MAX_BUILD_SIDES = 256


class FilterPlanner:
    """The filters of one query, each on one table reference. Other requests are rejected with a reason."""

    def __init__(
        self,
        context: DetectionContext,
        known: KnownTables,
        graphs: QueryGraphs,
        rejections: RejectedCandidates,
    ) -> None:
        self._context = context
        self._known = known
        self._rejections = rejections
        self._assignments: dict[tuple[int, tuple[str, ...], str], FilterAssignment] = {}
        self._found: list[FoundKey] = []
        self._requests: dict[tuple[object, ...], list[FilterRequest]] = {}
        self._fingerprints: set[str] = set()
        self._named_columns: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._shared_ends: set[int] = set()
        self._graphs = graphs
        self._build_sides = BuildSides(known, graphs, are_whole=context.takes_whole_builds)
        self._tried = 0

    @property
    def assignments(self) -> tuple[FilterAssignment, ...]:
        """The filters so far."""
        return tuple(self._assignments.values())

    @property
    def filtered(self) -> set[tuple[int, str]]:
        """Where the names of filtered tables end in the text, with the first column of each key."""
        return {(end + 1, columns[0].lower()) for end, columns, _ in self._assignments}

    def share(self, end: int) -> None:
        """Notes that several places read the SELECT which has this table reference."""
        self._shared_ends.add(end)

    def place_together(self) -> None:
        """Adds the filters that depend on all others; call it once, after the last `place`.

        These are the filters on rows that several places read, and those on composite keys: tuples prune more
        than their columns do one by one.
        """
        for request in self._requests.values():
            self._place_for_all(request)
        for keys in composite_keys(self._found):
            self._place_together(keys)

    def place(self, request: FilterRequest) -> None:
        """Filters the table reference by the keys of the build side, or rejects the candidate with a reason.

        A request with a `reading` waits for `place_together`.
        """
        if request.reading is not None:
            self._requests.setdefault(request.group_key, []).append(request)
            return
        side, end = self._build_side(request.candidate), request.end
        if isinstance(side, Reason) or end is None:
            self._reject(request, side if isinstance(side, Reason) else Reason.REWRITE_REJECTED)
            return
        is_whole = self._is_whole(request.candidate, side)
        graph = None if side.is_chosen else side.graph
        self._add_converted(request, end, side.query, graph, side.allowed, is_whole)
        self._rejections.note_filter(end)
        # Most keys come from one relation, and that one cannot be left out.
        is_joined = len(side.query.aliases) > 1 and not side.is_chosen
        facts = self._known.facts(request.table) if is_joined else None
        if facts is not None:
            self._place_fewer(request, end, side, facts)
        if request.plan.is_plain and not (request.candidate.is_null_safe or side.is_chosen):
            found = FoundKey(request.candidate, request.probe, side.build, side.graph, side.allowed, end)
            self._found.append(found)

    def _place_for_all(self, requests: Sequence[FilterRequest]) -> None:
        """Filters a table reference by the keys of all its readers together, if every reader has keys."""
        found, first, end = self._keys_of_all(requests), requests[0], requests[0].end
        if not found or end is None:
            for request in requests:
                self._reject(request, Reason.PROBE_NOT_PRUNABLE, SHARED)
            return
        query, plan = union_keys(found), first.plan
        is_converted = any(request.is_converted for request in requests)
        self._add(first.candidate, first.probe, query, (plan.type_name,), plan.span, end, is_converted)
        self._rejections.note_filter(end)

    def _keys_of_all(self, requests: Sequence[FilterRequest]) -> Sequence[BuildQuery]:
        """Returns a key query for each reader of the table reference; nothing if a reader has no keys."""
        readings = {request.reading for request in requests if request.reading is not None}
        count = max(reading.count for reading in readings)
        if len(readings) < count:
            # Some reader needs every row, so no build side is needed; each would take long to write.
            return ()
        sides: dict[Reading | None, list[tuple[int, BuildQuery]]] = {}
        for request in requests:
            side = self._build_side(request.candidate)
            if isinstance(side, BuildSide):
                keys = self._cost(side), request.converted(side.query)
                sides.setdefault(request.reading, []).append(keys)
        # Ties are broken by the identity, which does not depend on the relations' names.
        cheapest = [min(side, key=lambda keys: (keys[0], keys[1].identity))[1] for side in sides.values()]
        return cheapest if len(cheapest) == count else ()

    def _cost(self, side: BuildSide) -> int:
        """Returns what reading its tables costs, in bytes, as far as they are known."""
        read = (side.graph.relations.get(alias) for alias in side.query.aliases)
        facts = (self._known.facts(table) for table in read if isinstance(table, exp.Table))
        return sum(reading_cost(fact) for fact in facts if fact is not None)

    def _build_side(self, candidate: Candidate) -> BuildSide | Reason:
        if self._has_enough():
            return Reason.NOT_WORTH_COLLECTING
        self._tried += 1
        return self._build_sides.keys(candidate)

    def _reject(self, request: FilterRequest, reason: Reason, detail: str = "") -> None:
        self._rejections.reject(request.candidate, request.table, request.probe, reason, detail)

    def _place_fewer(self, request: FilterRequest, end: int, side: BuildSide, probe: TableFacts) -> None:
        """Adds a second filter with keys from fewer relations, if the first may cost more than it saves."""
        fewer = affordable_build(side.graph, side.build, side.allowed, probe, self._known.facts)
        if fewer is None or self._has_enough():
            return
        is_null_safe = request.candidate.is_null_safe
        query = build_query(side.graph, [side.build], fewer, self._known.facts, is_null_safe)
        if query is not None:
            self._add_converted(request, end, query, side.graph, fewer, is_whole=True)

    def _add_converted(
        self,
        request: FilterRequest,
        end: int,
        query: BuildQuery,
        graph: JoinGraph | None,
        allowed: frozenset[str],
        is_whole: bool,
    ) -> None:
        """Adds a filter on one column; `graph` has the relations of its keys, if these are known."""
        plan, is_converted = request.plan, request.is_converted
        keys = request.converted(query)
        key_dependencies = (
            () if is_converted or graph is None else tuple(self._key_dependencies(graph, keys, allowed))
        )
        types = (plan.type_name,)
        self._add(
            request.candidate,
            request.probe,
            keys,
            types,
            plan.span,
            end,
            is_converted,
            key_dependencies,
            is_whole,
        )

    def _is_whole(self, candidate: Candidate, side: BuildSide) -> bool:
        """Whether the engine could find no fewer keys where it prunes by the same join."""
        if side.is_chosen or self._graphs.has_filters_outside:
            return False
        flattened = self._graphs.flattened_graph(candidate.build_graph)
        subquery = self._graphs.subquery_of(candidate.build_graph)
        return has_all_filters(candidate, flattened, side.query.aliases.keys(), subquery)

    def _has_enough(self) -> bool:
        return len(self._fingerprints) >= MAX_SETS or self._tried >= MAX_BUILD_SIDES

    def _key_dependencies(
        self, graph: JoinGraph, query: BuildQuery, allowed: frozenset[str]
    ) -> Iterator[KeyDependency]:
        for chained, keys, type_name in key_dependencies(graph, query, allowed, self._known):
            key = fingerprint(keys, type_name, self._context.parameters, self._context.session)
            yield KeyDependency(key, query.aliases[chained.relation], chained.column, type_name)

    def _place_together(self, keys: Sequence[FoundKey]) -> None:
        first = keys[0]
        probe = replace(
            first.probe,
            columns=tuple(key.probe.columns[0] for key in keys),
            type_names=tuple(key.probe.type_names[0] for key in keys),
        )
        if self._has_enough():
            together = [key.candidate for key in keys]
            self._rejections.reject_together(together, first.end, probe, Reason.NOT_WORTH_COLLECTING)
            return
        query = build_query(
            first.graph,
            [key.build for key in keys],
            first.allowed,
            self._known.facts,
            is_whole=self._context.takes_whole_builds,
        )
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
        key_dependencies: tuple[KeyDependency, ...] = (),
        is_whole: bool = False,
    ) -> None:
        context, key_types = self._context, ", ".join(types)
        key = fingerprint(query, key_types, context.parameters, context.session)
        self._fingerprints.add(key)
        place = (end, probe.columns, key)
        if place in self._assignments:
            # Another candidate has the same keys.
            known = self._assignments[place]
            self._assignments[place] = replace(known, is_whole=known.is_whole and is_whole)
            return
        found = DynamicFilter(
            filter_id=f"df{len(self._assignments) + 1}",
            join_type=candidate.join_type,
            probe=probe,
            build=query.build,
            filtering_query=query.sql,
            fingerprint=key,
            parameter_names=query.parameter_names,
            collected_types=types,
            span=span,
            is_converted=is_converted,
            key_dependencies=key_dependencies,
            is_null_safe=candidate.is_null_safe,
            series=series_of(query, key_types, context.parameters, context.session),
            family=self._family(query, key_types),
        )
        self._assignments[place] = FilterAssignment(
            found, end + 1, end in self._shared_ends, is_whole, self._graphs.is_read_in_a_union(end)
        )

    def _family(self, query: BuildQuery, key_types: str) -> KeyFamily | None:
        if not self._context.is_keeping_rows:
            return None
        found = family_of(query, key_types, self._context.session)
        return KeyFamily(found, self._named(query.table_columns)) if found else None

    def _named(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        # To look for each column of a wide table in a long text takes long, and many filters read one table.
        if columns not in self._named_columns:
            self._named_columns[columns] = tuple(filter(self._context.is_named, columns))
        return self._named_columns[columns]
