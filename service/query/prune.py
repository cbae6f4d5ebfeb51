"""What a query is narrowed by before it runs: detect, collect, write into the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import structlog
from sqlglot import exp

from service.model.column_values import ColumnValues
from service.model.filtering import (
    FilterForm,
    FilterOutcome,
    FilterRecord,
    Probe,
    Reason,
)
from service.model.query import PruningRequest, QueryRequest
from service.model.sql import ParsedQuery
from service.model.tables import TableFacts, TableName
from service.ports import Catalogs, Clock, ProbeValues
from service.pruning.detect import Detection, DetectionContext, Placement, detect
from service.pruning.inject import Narrowing, inject
from service.pruning.narrow import narrow
from service.pruning.parse import parse
from service.pruning.predicate import FormedPredicate, predicate
from service.pruning.qualify import qualify
from service.pruning.table_names import table_names
from service.query.collect import Collecting, Collector

log = structlog.get_logger(__name__)

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

    def __init__(
        self,
        catalogs: Catalogs,
        probe_values: ProbeValues,
        collector: Collector,
        clock: Clock,
        bounds: PruningBounds,
    ) -> None:
        self._catalogs = catalogs
        self._probe_values = probe_values
        self._collector = collector
        self._clock = clock
        self._bounds = bounds

    def prune(self, query_id: UUID, request: QueryRequest, is_canceled: Callable[[], bool]) -> PrunedQuery:
        """The query with its scans narrowed, as far as that is possible and pays."""
        if not (self._bounds.is_enabled and request.pruning.is_enabled):
            return PrunedQuery(request.sql)
        try:
            return self._pruned(query_id, request, is_canceled)
        except Exception as failure:  # the outermost edge of pruning: no query fails because of it
            log.exception("pruning_failed", error=type(failure).__name__)
            return PrunedQuery(request.sql)

    def _pruned(self, query_id: UUID, request: QueryRequest, is_canceled: Callable[[], bool]) -> PrunedQuery:
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
            is_tight=self._is_tight,
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
            probe = placement.filter.probe
            outcome, formed = self._narrowed(probe, outcomes[placement.filter.filter_id])
            records.append(_record(placement, outcome, formed))
            if formed is not None:
                narrowed.setdefault(placement.reference_end, []).append(formed.condition)
                pinned |= {placement.filter.probe.table, *placement.filter.build.tables}
        filters = (*records, *detected.detection.refused)
        if not narrowed:
            return replace(pruned, filters=filters)
        sql = inject(detected.parsed, _narrowings(detected, narrowed, pinned))
        return replace(pruned, sql=sql, rewritten_sql=sql, filters=filters)

    def _narrowed(self, probe: Probe, outcome: FilterOutcome) -> tuple[FilterOutcome, FormedPredicate | None]:
        """The predicate, or the reason for which there is none."""
        if not outcome.data.is_filtering:
            return outcome, None
        keys = narrow(outcome.data.values, self._held(probe))
        if keys.is_all:
            return replace(outcome, reason=Reason.NOT_SELECTIVE), None
        bounds = self._bounds
        formed = predicate(
            probe.columns[0],
            probe.type_names[0],
            keys.values,
            bounds.max_in_list,
            bounds.max_ranges,
            keys.domain,
        )
        return outcome, formed

    def _held(self, probe: Probe) -> ColumnValues | None:
        if probe.snapshot_id is None:
            return None
        return self._probe_values.of(probe.table, probe.snapshot_id, probe.columns[0])

    def _is_tight(self, facts: TableFacts, column: str) -> bool:
        held = None
        if facts.snapshot_id is not None:
            held = self._probe_values.of(facts.name, facts.snapshot_id, column)
        return held is not None and held.is_tight


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
