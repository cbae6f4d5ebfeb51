"""What a query is narrowed by before it runs: detect, collect, write into the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlglot import exp

from service.model.filtering import (
    FilterForm,
    FilterOutcome,
    FilterRecord,
    Reason,
)
from service.model.query import PruningRequest, QueryRequest
from service.model.sql import ParsedQuery
from service.model.tables import TableFacts, TableName
from service.ports import Catalogs, Clock
from service.pruning.detect import Detection, DetectionContext, Placement, detect
from service.pruning.inject import Narrowing, inject
from service.pruning.parse import parse
from service.pruning.predicate import FormedPredicate, predicate
from service.pruning.qualify import qualify
from service.pruning.table_names import table_names
from service.query.collect import Collecting, Collector

# What opening a data file costs, in bytes that could be read meanwhile.
FILE_OPEN_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PruningBounds:
    """How far pruning goes. `session` has what changes a query's meaning, such as the time zone."""

    is_enabled: bool
    max_in_list: int
    max_ranges: int
    min_table_bytes: int
    max_build_rows: int
    catalog_names: frozenset[str]
    session: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PrunedQuery:
    """The text to run, and what became of each candidate. Without a filter it is the caller's own text."""

    sql: str
    rewritten_sql: str | None = None
    filters: tuple[FilterRecord, ...] = ()
    parse_ms: int = 0
    detect_ms: int = 0
    filters_ms: int = 0

    def as_written(self, sql: str) -> PrunedQuery:
        """The same, after the engine did not take the rewritten text."""
        filters = (
            replace(each, reason=Reason.REWRITE_REJECTED) if each.is_applied else each
            for each in self.filters
        )
        return replace(self, sql=sql, rewritten_sql=None, filters=tuple(filters))


@dataclass(frozen=True, slots=True)
class _Detected:
    parsed: ParsedQuery
    names: Mapping[tuple[str, ...], TableName]
    facts: Mapping[TableName, TableFacts]
    detection: Detection


class Pruner:
    """Narrows queries. Never raises, and never changes what a query answers."""

    def __init__(self, catalogs: Catalogs, collector: Collector, clock: Clock, bounds: PruningBounds) -> None:
        self._catalogs = catalogs
        self._collector = collector
        self._clock = clock
        self._bounds = bounds

    def prune(self, query_id: UUID, request: QueryRequest, is_canceled: Callable[[], bool]) -> PrunedQuery:
        """The query with its scans narrowed, as far as that is possible and pays."""
        if not (self._bounds.is_enabled and request.pruning.is_enabled):
            return PrunedQuery(request.sql)
        began_ms = self._clock.elapsed_ms()
        parsed = parse(request.sql)
        parsed_ms = self._clock.elapsed_ms()
        if parsed is None or _names_tables_in_columns(parsed.tree):
            return PrunedQuery(request.sql, parse_ms=parsed_ms - began_ms)
        detected = self._detected(parsed, request)
        detected_ms = self._clock.elapsed_ms()
        pruned = PrunedQuery(request.sql, parse_ms=parsed_ms - began_ms, detect_ms=detected_ms - parsed_ms)
        if detected is None:
            return pruned
        worth = [
            each for each in detected.detection.placements if self._pays(each, detected, request.pruning)
        ]
        collecting = Collecting(query_id, request.parameters, is_canceled)
        outcomes = self._collector.collect([each.filter for each in worth], collecting)
        filters_ms = self._clock.elapsed_ms() - detected_ms
        return self._rewritten(replace(pruned, filters_ms=filters_ms), detected, worth, outcomes)

    def _detected(self, parsed: ParsedQuery, request: QueryRequest) -> _Detected | None:
        names = table_names(parsed, self._bounds.catalog_names, request.catalog, request.schema)
        facts = self._catalogs.facts_of(sorted(set(names.values())))
        tree = qualify(parsed.tree, facts, request.catalog, request.schema)
        if tree is None:
            return None
        context = DetectionContext(
            tables=_in_lower_case(facts),
            parameters=request.parameters,
            session=self._bounds.session,
            max_build_rows=self._bounds.max_build_rows,
        )
        return _Detected(parsed, names, facts, detect(tree, context))

    def _pays(self, placement: Placement, detected: _Detected, asked: PruningRequest) -> bool:
        at_least = self._bounds.min_table_bytes if asked.min_table_bytes is None else asked.min_table_bytes
        facts = detected.facts.get(placement.filter.probe.table)
        if facts is None:
            return False
        return facts.total_bytes + facts.data_file_count * FILE_OPEN_BYTES >= at_least

    def _rewritten(
        self,
        pruned: PrunedQuery,
        detected: _Detected,
        worth: Sequence[Placement],
        outcomes: Mapping[str, FilterOutcome],
    ) -> PrunedQuery:
        narrowed: dict[int, list[exp.Expr]] = {}
        pinned: set[TableName] = set()
        records: list[FilterRecord] = []
        for placement in detected.detection.placements:
            if placement not in worth:
                records.append(_record(placement, _NOT_WORTH))
                continue
            outcome = outcomes[placement.filter.filter_id]
            formed = self._formed(placement, outcome)
            records.append(_record(placement, outcome, formed))
            if formed is not None:
                narrowed.setdefault(placement.reference_end, []).append(formed.condition)
                pinned |= {placement.filter.probe.table, *placement.filter.build.tables}
        filters = (*records, *detected.detection.refused)
        if not narrowed:
            return replace(pruned, filters=filters)
        sql = inject(detected.parsed, _narrowings(detected, narrowed, pinned))
        return replace(pruned, sql=sql, rewritten_sql=sql, filters=filters)

    def _formed(self, placement: Placement, outcome: FilterOutcome) -> FormedPredicate | None:
        if not outcome.data.is_filtering:
            return None
        probe = placement.filter.probe
        return predicate(
            probe.columns[0],
            probe.type_names[0],
            outcome.data.values,
            self._bounds.max_in_list,
            self._bounds.max_ranges,
        )


def _narrowings(
    detected: _Detected, narrowed: Mapping[int, Sequence[exp.Expr]], pinned: set[TableName]
) -> Mapping[int, Narrowing]:
    """Every mention of a table that a filter was made from is pinned: both sides read the same snapshot."""
    found: dict[int, Narrowing] = {}
    for reference in detected.parsed.references:
        name = detected.names.get(reference.parts)
        facts = detected.facts.get(name) if name in pinned else None
        if facts is not None and facts.snapshot_id is not None and reference.is_plain:
            found[reference.end] = Narrowing(facts.snapshot_id, tuple(narrowed.get(reference.end, ())))
    return found


def _names_tables_in_columns(tree: exp.Query) -> bool:
    """Whether a column is reached by its table's schema: a narrowed table has its alias only."""
    return any(each.args.get("db") for each in tree.find_all(exp.Column))


def _in_lower_case(facts: Mapping[TableName, TableFacts]) -> Mapping[TableName, TableFacts]:
    """Without those whose names differ by case only: the tree cannot tell them apart."""
    lower = {name: TableName(name.catalog.lower(), name.schema.lower(), name.table.lower()) for name in facts}
    count = Counter(lower.values())
    return {lower[name]: each for name, each in facts.items() if count[lower[name]] == 1}


_NOT_WORTH = FilterOutcome.none(Reason.NOT_WORTH_COLLECTING)


def _record(
    placement: Placement, outcome: FilterOutcome, formed: FormedPredicate | None = None
) -> FilterRecord:
    found = placement.filter
    return FilterRecord(
        filter_id=found.filter_id,
        join_type=found.join_type,
        probe=found.probe,
        build=found.build,
        source=outcome.source,
        form=FilterForm.NONE if formed is None else formed.form,
        reason=outcome.reason if formed is None else Reason.APPLIED,
        value_count=len(outcome.data.values),
        byte_count=outcome.byte_count,
        ranges=() if formed is None else tuple((str(low), str(high)) for low, high in formed.ranges),
        exceeds_threshold=outcome.data.exceeds_threshold,
        collection_ms=outcome.collection_ms,
        cache_note=outcome.note,
    )
