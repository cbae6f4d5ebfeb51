"""The filters of a query that are worth their keys, and the rows that are read with these."""

from __future__ import annotations

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.query.rewrites import RewriteKind
from service.pruning.scan_layout.is_worth_collecting import is_worth_collecting, is_worth_filtering
from service.query.filtering.detection.detected import Detected
from service.query.filtering.fetched_relations import LocalRelations
from service.query.filtering.one_reading import OneReading, one_reading
from service.query.filtering.pruning_bounds import PruningBounds


def wanted_filters(
    detected: Detected, min_table_bytes: int
) -> tuple[list[DynamicFilter], list[DynamicFilter]]:
    """Returns the filters that are worth collecting, and those that are worth it with cached keys only."""
    worth: list[DynamicFilter] = []
    cached_only: list[DynamicFilter] = []
    for found in (assignment.filter for assignment in detected.detection.assignments):
        probe = detected.facts_at(found.probe.table, found.probe.snapshot_id)
        if is_worth_collecting(probe, detected.builds_of(found), min_table_bytes):
            worth.append(found)
        elif is_worth_filtering(probe, min_table_bytes):
            cached_only.append(found)
    return worth, cached_only


def rows_with_keys_of(detected: Detected, relations: LocalRelations, bounds: PruningBounds) -> OneReading:
    """Returns the rows to cache together with the keys, if these rewrites may be made."""
    is_asked = {RewriteKind.ONE_READING, RewriteKind.LOCAL_RELATION} <= bounds.rewrites.kinds
    return one_reading(detected, relations) if is_asked else OneReading()
