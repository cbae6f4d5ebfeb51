"""A pruner for tests of other parts: it leaves every query as written."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor

from service.model.filters.relations import RelationBounds
from service.model.query.rewrites import RewriteKind
from service.ports.clock import Clock
from service.ports.engine.query_engine import Engine
from service.ports.filters.filter_cache import FilterCache
from service.ports.filters.filter_keys import KeyCarrier, KeyCollector
from service.ports.tables.catalogs import Catalogs, Views
from service.pruning.predicates.form import FormBounds
from service.query.filtering.asked_requests import AskedRequests
from service.query.filtering.collect import CollectBounds, Collector
from service.query.filtering.detection.detections import DetectionBounds, Detections
from service.query.filtering.engine_keys import EngineKeys
from service.query.filtering.fetched_relations import LocalRelations
from service.query.filtering.prune import Pruner
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.rewrite import RewriteBounds
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.probe_values import FakeProbeValues
from tests.fakes.relations import FakeRelations
from tests.fakes.views import FakeViews


def pruner(
    catalogs: Catalogs,
    engine: Engine,
    cache: FilterCache,
    clock: Clock,
    is_enabled: bool = False,
    executor: Executor | None = None,
    views: Views | None = None,
    reader: KeyCollector | None = None,
    collect_timeout_s: float = 10.0,
    rewrites: frozenset[RewriteKind] = frozenset(RewriteKind),
    asked: AskedRequests | None = None,
    carrier: KeyCarrier | None = None,
    takes_late: bool = False,
) -> Pruner:
    """Builds the real pruner over fakes; it does nothing unless enabled."""
    keys = EngineKeys(engine, max_filter_bytes=32 << 20, max_ranges=32)
    collector = Collector(
        reader or FakeKeyCollector(),
        keys,
        cache,
        executor or ThreadPoolExecutor(1),
        clock,
        CollectBounds(wait_s=collect_timeout_s, collect_s=120),
        carrier,
    )
    values = FakeProbeValues()
    looked_for = DetectionBounds(max_build_rows=1_000_000, catalog_names=frozenset({"lake"}), session={})
    bounds = PruningBounds(
        is_enabled=is_enabled,
        min_table_bytes=0,
        form=FormBounds(max_in_list=200, max_ranges=32, max_listed=2000),
        rewrites=RewriteBounds(kinds=rewrites, slots=2),
        takes_late=takes_late,
    )
    relations = LocalRelations(
        FakeRelations(), ThreadPoolExecutor(1), RelationBounds(max_rows=100, max_bytes=10_000)
    )
    detections = Detections(catalogs, views or FakeViews(), values, clock, looked_for)
    return Pruner(detections, collector, relations, bounds, asked)
