"""Prunes a query before it runs: detect, collect, write into the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from service.model.filters.filter_record import FilterOutcome, Reason
from service.model.filters.relations import CachedRelation
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest, by_name
from service.model.query.rewrites import RewriteKind
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.sql_text.change_text import ChangeText
from service.query.filtering.asked_requests import AskedRequests
from service.query.filtering.collect import Collector
from service.query.filtering.detection.detected import Detected
from service.query.filtering.detection.detections import Detections
from service.query.filtering.detection.text_readings import Reading
from service.query.filtering.engine_keys import Collecting
from service.query.filtering.fetched_relations import LocalRelations
from service.query.filtering.formed_filters import applied_filters, filter_records, formed_filters
from service.query.filtering.known_rewrites import KnownRewrites, RewriteInput
from service.query.filtering.late_filters import late_filters
from service.query.filtering.one_reading import one_reading_records
from service.query.filtering.prefetched_sets import PrefetchedSets
from service.query.filtering.pruned_change import (
    PrunedWrite,
    changed_table,
    pruned_change,
    without_copies,
    without_keys_of,
)
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.rewrite import rewritten
from service.query.filtering.tuple_filters import tuple_filters
from service.query.filtering.wanted_filters import rows_with_keys_of, wanted_filters
from service.tracing import step

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query, the parameters and bounds of its key collection, and its pruning bounds."""

    request: QueryRequest
    collecting: Collecting
    bounds: PruningBounds


class Pruner:
    """Prunes queries. Never raises, and never changes the answer of a query."""

    def __init__(
        self,
        detections: Detections,
        collector: Collector,
        relations: LocalRelations,
        bounds: PruningBounds,
        asked: AskedRequests | None = None,
        known: KnownRewrites | None = None,
    ) -> None:
        """`asked` remembers the requests whose scans were filtered, `known` their rewrites."""
        self._detections = detections
        self._collector = collector
        self._relations = relations
        self._bounds = bounds
        self._asked = asked
        self._known = known or KnownRewrites(0)

    def prune(
        self,
        request: QueryRequest,
        access: Access,
        is_canceled: Callable[[], bool],
        *,
        takes_late: bool = True,
    ) -> PrunedQuery:
        """Returns the query with its scans pruned, as far as that is possible and pays.

        Keys and cached rows are those that `access` shows. Unless `takes_late`, it runs without the filters
        that are late, whatever the operator's bounds say.
        """
        bounds = self._bounds.within(request.pruning)
        if not takes_late:
            bounds = replace(bounds, takes_late=False)
        if not bounds.is_enabled:
            return PrunedQuery(request.sql, otherwise=Reason.DISABLED)
        try:
            pruned = self._pruned(_Asked(request, _collecting(request, access, is_canceled), bounds))
            if self._asked is not None and any(record.is_applied for record in pruned.filters):
                self._asked.note(request, access)
            return pruned
        except Exception as failure:  # the outermost edge of pruning: no query fails because of it
            log.exception("pruning_failed", error=type(failure).__name__)
            return PrunedQuery(request.sql, otherwise=Reason.COLLECT_FAILED)

    def prune_change(
        self, request: QueryRequest, text: ChangeText, access: Access, is_canceled: Callable[[], bool]
    ) -> PrunedWrite:
        """Returns a DELETE, UPDATE or MERGE with its scans pruned, as far as that is possible and pays."""
        bounds = self._bounds.within(request.pruning)
        if not bounds.is_enabled:
            return PrunedWrite(PrunedQuery(text.sql, otherwise=Reason.DISABLED))
        asked = replace(request, sql=text.question, pruning=replace(request.pruning, rewrites=frozenset()))
        try:
            return self._pruned_change(_Asked(asked, _collecting(request, access, is_canceled), bounds), text)
        except Exception as failure:  # the outermost edge of pruning: no write fails because of it
            log.exception("pruning_failed", error=type(failure).__name__)
            return PrunedWrite(PrunedQuery(text.sql, otherwise=Reason.COLLECT_FAILED))

    def expanded(self, request: QueryRequest, access: Access) -> Reading | None:
        """Returns the query with its views expanded; None if it has none that can be."""
        return self._detections.expanded(request, access)

    @property
    def prefetched(self) -> PrefetchedSets:
        """Collects sets that nobody waits for, by the same rules and within the same bounds."""
        return PrefetchedSets(self._detections, self._collector, self._relations, self._bounds)

    def has_moved(self, pruned: PrunedQuery) -> bool:
        """Whether a table that cannot be pinned has changed since its keys were collected."""
        return self._detections.has_moved(pruned.unpinned)

    def has_changed(self, pruned: PrunedQuery) -> bool:
        """Whether the query may have other rows by now, since not all of its tables can be pinned."""
        return self._detections.has_changed(pruned.unpinned)

    def distrust(self, pruned: PrunedQuery) -> None:
        """Stops using the query's keys and cached rows in this process: a verification failed with them."""
        self._collector.disable(pruned.fingerprints)
        self._relations.disable(frozenset(pruned.relations.values()))

    def _pruned(self, asked: _Asked) -> PrunedQuery:
        request = asked.request
        with step("sluice.query.detect") as span:
            detected = self._detections.of(request, asked.collecting.access, asked.bounds.min_table_bytes)
            if isinstance(detected, Reason):
                span.note({"sluice.reason": detected.value})
                return PrunedQuery(request.sql, otherwise=detected)
        with step("sluice.query.filters"):
            outcomes, filters_ms = self._outcomes(detected, asked)
        pruned = PrunedQuery(
            request.sql,
            unfiltered=detected.detection.unfiltered,
            parse_ms=detected.parse_ms,
            detect_ms=detected.detect_ms,
            filters_ms=filters_ms,
        )
        with step("sluice.query.rewrite"):
            return self._rewritten(pruned, detected, outcomes, asked)

    def _pruned_change(self, asked: _Asked, text: ChangeText) -> PrunedWrite:
        with step("sluice.query.detect") as span:
            detected = self._detections.of(
                asked.request,
                asked.collecting.access,
                asked.bounds.min_table_bytes,
                takes_whole_builds=True,
            )
            changed = detected if isinstance(detected, Reason) else changed_table(detected)
            if isinstance(detected, Reason) or isinstance(changed, Reason):
                reason = detected if isinstance(detected, Reason) else changed
                span.note({"sluice.reason": str(reason)})
                assert isinstance(reason, Reason)  # as one of both is
                return PrunedWrite(PrunedQuery(text.sql, otherwise=reason))
        detected = without_keys_of(detected, changed.facts.name)
        detected = without_copies(detected, changed, text)
        with step("sluice.query.filters"):
            outcomes, filters_ms = self._outcomes(detected, asked)
        later = frozenset({changed.reference.end})
        formed = formed_filters(detected, outcomes, asked.bounds, later)
        with step("sluice.query.rewrite"):
            return pruned_change(text, detected, changed, formed, filters_ms)

    def _outcomes(self, detected: Detected, asked: _Asked) -> tuple[Mapping[str, FilterOutcome], int]:
        """Collects the filters that pay; one whose keys are cached pays sooner."""
        worth, cached_only = wanted_filters(detected, asked.bounds.min_table_bytes)
        with_rows = rows_with_keys_of(detected, self._relations, asked.bounds)
        return self._collector.collect(worth, cached_only, replace(asked.collecting, with_rows=with_rows))

    def _rewritten(
        self,
        pruned: PrunedQuery,
        detected: Detected,
        outcomes: Mapping[str, FilterOutcome],
        asked: _Asked,
    ) -> PrunedQuery:
        given = RewriteInput(
            sql=asked.request.sql,
            detected=detected,
            outcomes=outcomes,
            cached=self._cached_relations(detected, asked),
            bounds=asked.bounds,
            # A session may have other settings than the engine that chooses the files.
            takes_late=not asked.request.session,
        )
        known = self._known.get(given)
        if known is not None:
            return replace(
                known, parse_ms=pruned.parse_ms, detect_ms=pruned.detect_ms, filters_ms=pruned.filters_ms
            )
        found = _written(pruned, given)
        self._known.keep(given, found)
        return found

    def _cached_relations(
        self, detected: Detected, asked: _Asked
    ) -> list[tuple[RelationAssignment, CachedRelation]]:
        if RewriteKind.LOCAL_RELATION not in asked.bounds.rewrites.kinds:
            return []
        places = detected.detection.relations
        cached = self._relations.cached(
            [place.query for place in places], asked.collecting.parameters, asked.collecting.access
        )
        return [
            (place.reading(rows.fingerprint), rows)
            for place in places
            if (rows := cached.get(place.query.fingerprint)) is not None
        ]


def _written(pruned: PrunedQuery, given: RewriteInput) -> PrunedQuery:
    detected, outcomes, bounds = given.detected, given.outcomes, given.bounds
    formed = formed_filters(detected, outcomes, bounds)
    pruned = replace(
        pruned,
        filters=(*filter_records(formed, detected), *detected.detection.rejected),
        late=late_filters(detected, outcomes, bounds) if given.takes_late else (),
        tuples=tuple_filters(formed),
    )
    found = rewritten(pruned, detected, applied_filters(formed), given.cached, bounds.rewrites)
    together = one_reading_records(detected, outcomes, found.rewrites)
    return replace(found, rewrites=(*found.rewrites, *together))


def _collecting(request: QueryRequest, access: Access, is_canceled: Callable[[], bool]) -> Collecting:
    timeout_ms = request.pruning.collect_timeout_ms
    within_s = None if timeout_ms is None else timeout_ms / 1000
    return Collecting(by_name(request.parameters), is_canceled, access, within_s)
