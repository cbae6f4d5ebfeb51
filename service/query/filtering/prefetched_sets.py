"""Collects key sets before a query asks for them, in the same way as for a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.filter_record import FilterOutcome, Reason
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest, by_name
from service.model.tables.tables import TableName
from service.query.filtering.collect import Collector
from service.query.filtering.detection.detections import Detections
from service.query.filtering.engine_keys import Collecting
from service.query.filtering.fetched_relations import LocalRelations
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.wanted_filters import rows_with_keys_of, wanted_filters


@dataclass(frozen=True, slots=True)
class PendingSets:
    """The filters of one request whose keys may be collected now, and what that takes.

    `leaves` are its filters whose keys wait for no others, by fingerprint.
    """

    filters: tuple[DynamicFilter, ...]
    leaves: Mapping[str, DynamicFilter]
    collecting: Collecting


class PrefetchedSets:
    """Finds and collects the sets of a request, with the rights that it was asked with. Thread-safe."""

    def __init__(
        self, detections: Detections, collector: Collector, relations: LocalRelations, bounds: PruningBounds
    ) -> None:
        self._detections = detections
        self._collector = collector
        self._relations = relations
        self._bounds = bounds

    def pending(
        self,
        request: QueryRequest,
        access: Access,
        tables: frozenset[TableName],
        is_canceled: Callable[[], bool],
    ) -> PendingSets | Reason:
        """Returns the sets that a query would collect from these tables, or why there are none.

        Names of tables are in lower case. A set is left out if it cannot be cached, or if the request lacks a
        value of its parameters.
        """
        bounds = self._bounds.within(request.pruning)
        if not bounds.is_enabled:
            return Reason.DISABLED
        detected = self._detections.of(request, access, bounds.min_table_bytes)
        if isinstance(detected, Reason):
            return detected
        worth, _ = wanted_filters(detected, bounds.min_table_bytes)
        known = by_name(request.parameters)
        cacheable = {
            each.fingerprint: each
            for each in worth
            if each.is_cacheable and each.parameter_names <= known.keys()
        }
        # Nobody waits for these keys, so there is no wait for another one who collects them.
        collecting = Collecting(
            known,
            is_canceled,
            access,
            within_s=0.0,
            with_rows=rows_with_keys_of(detected, self._relations, bounds),
            is_rehearsal=True,
        )
        return PendingSets(
            tuple(each for each in cacheable.values() if tables & built_from(each)),
            {name: each for name, each in cacheable.items() if not each.key_dependencies},
            collecting,
        )

    def collect(self, wanted: DynamicFilter, pending: PendingSets, within_s: float) -> FilterOutcome:
        """Collects one set, unless it is cached, or another query or replica collects it now."""
        return self._collector.prefetch(wanted, pending.leaves, pending.collecting, within_s)


def built_from(found: DynamicFilter) -> frozenset[TableName]:
    """Returns the tables that the filter's keys come from, by names in lower case."""
    return frozenset(table.in_lower_case() for table in found.build.tables)
