"""Builds the pruner."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.catalogs.bounded_views import BoundedViews
from service.adapters.keys.key_carrier import ArrowKeyCarrier, CarryBounds
from service.adapters.keys.key_collector import ArrowKeyCollector
from service.adapters.keys.key_selector import ArrowKeySelector
from service.model.filters.relations import RelationBounds
from service.model.query.rewrites import RewriteKind
from service.ports.bounded_calls import BoundedCalls
from service.ports.clock import Clock
from service.pruning.predicates.composite_predicate import TupleBounds
from service.pruning.predicates.form import FormBounds
from service.query.filtering.collect import CollectBounds, Collector
from service.query.filtering.detection.detections import DetectionBounds, Detections
from service.query.filtering.engine_keys import EngineKeys
from service.query.filtering.fetched_relations import LocalRelations
from service.query.filtering.kept_sets import KeptBounds, KeptSets
from service.query.filtering.known_rewrites import KnownRewrites
from service.query.filtering.prune import Pruner
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.rewrite import RewriteBounds
from spark_session.engine.engine_relations import EngineRelations
from spark_session.engine.views import SparkViews

RELATION_FETCHERS = 2


def build_pruner(settings: Settings, components: Components, clock: Clock, calls: BoundedCalls) -> Pruner:
    """Returns the pruner; its threads end with the parts."""
    collector = _collector(settings, components, clock)
    is_remembering = settings.dynamic_filtering_prefetched_sets > 0
    relations = _local_relations(settings, components)
    views = BoundedViews(SparkViews(lambda: components.engine.session), settings.catalog_facts_timeout_s)
    bounds = detection_bounds(settings, components.catalog_names)
    return Pruner(
        Detections(components.all_catalogs, views, components.probe_values, clock, bounds, calls),
        collector,
        relations,
        _pruning_bounds(settings, components.engine.slots),
        components.asked_requests if is_remembering else None,
        KnownRewrites(settings.dynamic_filtering_texts_max_bytes),
    )


def _collector(settings: Settings, components: Components, clock: Clock) -> Collector:
    max_filter_bytes = settings.dynamic_filtering_max_filter_bytes
    return Collector(
        ArrowKeyCollector(
            components.catalogs.opened, max_filter_bytes, settings.dynamic_filtering_max_collected_files
        ),
        EngineKeys(components.engine, max_filter_bytes, settings.dynamic_filtering_max_ranges),
        components.filter_cache,
        components.collectors,
        clock,
        CollectBounds(
            wait_s=settings.dynamic_filtering_collect_timeout_s,
            collect_s=settings.dynamic_filtering_max_collection_s,
        ),
        ArrowKeyCarrier(
            components.catalogs.opened,
            CarryBounds(
                max_snapshots=settings.dynamic_filtering_max_carried_commits,
                max_files=settings.dynamic_filtering_max_collected_files,
                max_filter_bytes=max_filter_bytes,
            ),
        ),
        KeptSets(
            ArrowKeySelector(components.catalogs.opened, max_filter_bytes),
            components.filter_cache.kept_rows,
            KeptBounds(
                max_sets=settings.dynamic_filtering_kept_sets,
                max_columns=settings.dynamic_filtering_kept_columns,
                max_rows=settings.dynamic_filtering_kept_rows,
                max_bytes=settings.dynamic_filtering_kept_bytes,
            ),
        ),
    )


def _local_relations(settings: Settings, components: Components) -> LocalRelations:
    # Separate from the collectors' threads: queries wait for keys, but not for these.
    fetchers = ThreadPoolExecutor(RELATION_FETCHERS, thread_name_prefix="relations")
    components.stack.callback(fetchers.shutdown, wait=False, cancel_futures=True)
    return LocalRelations(
        EngineRelations(components.engine),
        fetchers,
        RelationBounds(
            max_rows=settings.local_relation_max_rows, max_bytes=settings.local_relation_max_bytes
        ),
    )


def detection_bounds(settings: Settings, catalog_names: frozenset[str]) -> DetectionBounds:
    """Returns where the gateway with these settings looks for filters."""
    return DetectionBounds(
        max_build_rows=settings.dynamic_filtering_max_build_rows,
        catalog_names=catalog_names,
        session={
            "timeZone": settings.session_time_zone,
            "maxFilterBytes": str(settings.dynamic_filtering_max_filter_bytes),
            "maxRanges": str(settings.dynamic_filtering_max_ranges),
        }
        | settings.spark_conf,
        max_relation_rows=settings.local_relation_max_rows,
        is_expanding_views=RewriteKind.VIEW_EXPANDED in settings.rewrites,
        max_manifest_ms=round(1000 * settings.dynamic_filtering_manifest_timeout_s),
        max_tree_bytes=settings.dynamic_filtering_texts_max_bytes,
        is_keeping_rows=settings.dynamic_filtering_kept_sets > 0,
    )


def _pruning_bounds(settings: Settings, slots: int) -> PruningBounds:
    return PruningBounds(
        is_enabled=settings.dynamic_filtering_enabled,
        min_table_bytes=settings.dynamic_filtering_min_table_bytes,
        form=FormBounds(
            max_in_list=settings.dynamic_filtering_max_in_list,
            max_ranges=settings.dynamic_filtering_max_ranges,
            max_listed=settings.dynamic_filtering_max_listed_keys,
        ),
        tuples=TupleBounds(
            max_parts=settings.dynamic_filtering_max_tuple_alternatives,
            max_values=settings.dynamic_filtering_max_tuple_values,
            are_compared=min(settings.manifest_entries_max_bytes, settings.dynamic_filtering_tuples_max_bytes)
            > 0,
        ),
        rewrites=RewriteBounds(kinds=frozenset(settings.rewrites), slots=slots),
        takes_late=settings.dynamic_filtering_late_filters,
    )
