"""What a query is narrowed by before it runs: detect, collect, write into the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

import structlog

from service.model.column_values import ColumnValues
from service.model.filtering import (
    DynamicFilter,
    FilterOutcome,
    FilterRecord,
    Probe,
    Reason,
)
from service.model.query import Parameters, PruningRequest, QueryRequest, by_name
from service.model.relations import HeldRelation
from service.model.rewrites import RewriteKind
from service.model.tables import TableFacts
from service.ports import ProbeValues
from service.pruning.composite_predicate import composite_predicate
from service.pruning.detect import Placement
from service.pruning.form import FormBounds, form
from service.pruning.is_worth_collecting import is_worth_collecting
from service.pruning.local_relations import RelationPlacement
from service.pruning.predicate import FormedPredicate
from service.pruning.takes_lists_only import takes_lists_only
from service.query.applied_filter import AppliedFilter
from service.query.collect import Collector
from service.query.detections import Detected, Detections
from service.query.engine_keys import Collecting
from service.query.local_relations import LocalRelations
from service.query.pruned_query import PrunedQuery, filter_record
from service.query.rewrite import RewriteBounds, rewritten

log = structlog.get_logger(__name__)

_NOT_WORTH = FilterOutcome.none(Reason.NOT_WORTH_COLLECTING)


@dataclass(frozen=True, slots=True)
class PruningBounds:
    """How far pruning goes."""

    is_enabled: bool
    min_table_bytes: int
    form: FormBounds
    rewrites: RewriteBounds


class Pruner:
    """Narrows queries. Never raises, and never changes what a query answers."""

    def __init__(
        self,
        detections: Detections,
        probe_values: ProbeValues,
        collector: Collector,
        relations: LocalRelations,
        bounds: PruningBounds,
    ) -> None:
        self._detections = detections
        self._probe_values = probe_values
        self._collector = collector
        self._relations = relations
        self._bounds = bounds

    def prune(self, query_id: UUID, request: QueryRequest, is_canceled: Callable[[], bool]) -> PrunedQuery:
        """The query with its scans narrowed, as far as that is possible and pays."""
        if not (self._bounds.is_enabled and request.pruning.is_enabled):
            return PrunedQuery(request.sql)
        try:
            return self._pruned(request, Collecting(query_id, by_name(request.parameters), is_canceled))
        except Exception as failure:  # the outermost edge of pruning: no query fails because of it
            log.exception("pruning_failed", error=type(failure).__name__)
            return PrunedQuery(request.sql)

    def has_moved(self, pruned: PrunedQuery) -> bool:
        """Whether a table that cannot be pinned is another one than its keys were collected from."""
        return self._detections.has_moved(pruned.unpinned)

    def has_changed(self, pruned: PrunedQuery) -> bool:
        """Whether the query may have other rows by now, since not all of its tables can be pinned."""
        return self._detections.has_changed(pruned.unpinned)

    def distrust(self, fingerprints: frozenset[str]) -> None:
        """Never uses these sets of keys again in this process: a verification has failed with them."""
        self._collector.disable(fingerprints)

    def _pruned(self, request: QueryRequest, asked: Collecting) -> PrunedQuery:
        detected = self._detections.of(request)
        if detected is None:
            return PrunedQuery(request.sql)
        worth = [
            each for each in detected.detection.placements if self._pays(each, detected, request.pruning)
        ]
        outcomes, filters_ms = self._collector.collect([each.filter for each in worth], asked)
        pruned = PrunedQuery(
            request.sql, parse_ms=detected.parse_ms, detect_ms=detected.detect_ms, filters_ms=filters_ms
        )
        return self._rewritten(pruned, detected, outcomes, asked.parameters)

    def _pays(self, placement: Placement, detected: Detected, asked: PruningRequest) -> bool:
        at_least = self._bounds.min_table_bytes if asked.min_table_bytes is None else asked.min_table_bytes
        probe, build = placement.filter.probe, placement.filter.build
        builds = zip(build.tables, build.snapshot_ids, strict=True)
        return is_worth_collecting(
            detected.facts_at(probe.table, probe.snapshot_id),
            [detected.facts_at(name, snapshot_id) for name, snapshot_id in builds],
            at_least,
        )

    def _rewritten(
        self,
        pruned: PrunedQuery,
        detected: Detected,
        outcomes: Mapping[str, FilterOutcome],
        parameters: Parameters,
    ) -> PrunedQuery:
        records: list[FilterRecord] = []
        applied: list[AppliedFilter] = []
        for placement in detected.detection.placements:
            outcome = outcomes.get(placement.filter.filter_id, _NOT_WORTH)
            probe = placement.filter.probe
            facts = detected.facts_at(probe.table, probe.snapshot_id)
            outcome, formed = self._formed(placement.filter, facts, outcome)
            records.append(filter_record(placement, outcome, formed))
            if formed is not None:
                applied.append(AppliedFilter(placement, formed, len(outcome.data.values)))
        pruned = replace(pruned, filters=(*records, *detected.detection.refused))
        held = self._held_relations(detected, parameters)
        return rewritten(pruned, detected, applied, held, self._bounds.rewrites)

    def _held_relations(
        self, detected: Detected, parameters: Parameters
    ) -> list[tuple[RelationPlacement, HeldRelation]]:
        if RewriteKind.LOCAL_RELATION not in self._bounds.rewrites.kinds:
            return []
        places = detected.detection.relations
        held = self._relations.held([each.query for each in places], parameters)
        return [(each, held[each.query.fingerprint]) for each in places if each.query.fingerprint in held]

    def _formed(
        self, found: DynamicFilter, facts: TableFacts, outcome: FilterOutcome
    ) -> tuple[FilterOutcome, FormedPredicate | None]:
        """The predicate, or the reason for which there is none."""
        if not outcome.data.is_filtering:
            return outcome, None
        if len(found.probe.columns) > 1:
            return self._formed_together(found, outcome)
        held = self._held(found.probe, found.probe.columns[0])
        is_hashed = takes_lists_only(facts, found.probe.columns[0]) and not (held and held.is_tight)
        formed = form(found, outcome.data, held, is_hashed, self._bounds.form)
        if isinstance(formed, Reason):
            return replace(outcome, reason=formed), None
        return outcome, formed

    def _formed_together(
        self, found: DynamicFilter, outcome: FilterOutcome
    ) -> tuple[FilterOutcome, FormedPredicate | None]:
        held = [self._held(found.probe, each) for each in found.probe.columns]
        bounds = self._bounds.form
        formed = composite_predicate(
            found.probe, outcome.data.values, held, bounds.max_in_list, bounds.max_ranges
        )
        return (replace(outcome, reason=formed), None) if isinstance(formed, Reason) else (outcome, formed)

    def _held(self, probe: Probe, column: str) -> ColumnValues | None:
        if probe.snapshot_id is None:
            return None
        return self._probe_values.of(probe.table, probe.snapshot_id, column)
