"""Wires the refresh of aggregations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.reuse import ReuseResults
from api.bootstrap.wiring.build_reuse import engine_fingerprint, view_states
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.refresh_collector import RefreshCollector
from service.model.operations.usage import CacheUse
from service.model.query.refresh import RefreshOutcome
from service.model.query.rewrites import RewriteKind
from service.ports.bounded_calls import BoundedCalls
from service.ports.clock import Clock
from service.ports.telemetry.lineage import Lineage
from service.pruning.aggregation.partials import KeptAggregates
from service.query.execution.refresh_steps import NoRefresh, Refresh
from service.query.filtering.prune import Pruner
from service.query.refresh.aggregation_reader import AggregationReader
from service.query.refresh.expanded_texts import ExpandedTexts
from service.query.refresh.kept_states import KeptStates
from service.query.refresh.merged_answers import MergedAnswers
from service.query.refresh.refresh_plans import RefreshPlans
from service.query.refresh.refresher import RefreshBounds, Refresher, RefreshParts
from service.query.refresh.state_reader import StateBounds, StateReader
from spark_session.engine.engine_relations import EngineRelations
from spark_session.settings.settings import spark_properties

ANSI = "spark.sql.ansi.enabled"


def build_refresh(
    settings: Settings,
    components: Components,
    pruner: Pruner,
    calls: BoundedCalls,
    clock: Clock,
    lineage: Lineage,
    metrics: QueryMetrics,
) -> Refresh:
    """Returns the refresh of aggregations, or none if the operator does not want it.

    Without ANSI mode an overflow gives NULL instead of an error, so nobody could tell whether a merge is
    exact. The lineage of a result comes from the plan of its whole query, which a refresh does not have.
    """
    is_ansi = spark_properties(components.spark_settings).get(ANSI, "true").lower() == "true"
    is_reused = settings.reuse_results is not ReuseResults.NEVER
    is_wanted = settings.refresh_results and RewriteKind.REFRESH in settings.rewrites
    if not is_wanted or not is_reused or not is_ansi or lineage.is_followed:
        _watch(metrics, lambda: CacheUse(0, 0, 0, 0, 0), lambda: 0, lambda: dict.fromkeys(RefreshOutcome, 0))
        return NoRefresh()
    bounds = StateBounds(max_rows=settings.refresh_max_state_rows, max_bytes=settings.refresh_max_state_bytes)
    names = components.catalog_names
    refresher = Refresher(
        RefreshParts(
            plans=RefreshPlans(
                AggregationReader(components.engine, components.engine, calls, names),
                ExpandedTexts(pruner, view_states(settings, components)),
                KeptAggregates(
                    merges_floats=settings.refresh_floating_point,
                    max_register_bytes=settings.refresh_max_register_bytes,
                ),
            ),
            states=KeptStates(
                clock,
                settings.refresh_max_states,
                settings.refresh_max_bytes,
                settings.refresh_max_age_s * 1000,
            ),
            reader=StateReader(pruner, calls, names, bounds),
            answers=MergedAnswers(EngineRelations(components.engine), bounds),
            clock=clock,
        ),
        RefreshBounds(
            min_table_bytes=settings.refresh_min_table_bytes,
            settings=engine_fingerprint(components.spark_settings),
        ),
    )
    _watch(metrics, lambda: refresher.use, refresher.forget, lambda: refresher.outcomes)
    return refresher


def _watch(
    metrics: QueryMetrics,
    use: Callable[[], CacheUse],
    forget: Callable[[], int],
    outcomes: Callable[[], Mapping[RefreshOutcome, int]],
) -> None:
    metrics.caches.add("refreshable_states", use, forget)
    metrics.watch(RefreshCollector(outcomes))
