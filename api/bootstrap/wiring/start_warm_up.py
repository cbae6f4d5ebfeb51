"""Warms each new engine with the queries of the last days."""

from __future__ import annotations

from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.ports.clock import Clock
from service.query.query_service import QueryService
from service.query.warm_up.warm_up import WarmUp, WarmUpBounds


def start_warm_up(settings: Settings, components: Components, queries: QueryService, clock: Clock) -> None:
    """Starts a thread that waits for new engines; it ends with the components."""
    bounds = WarmUpBounds(
        queries=settings.warm_up_queries,
        history=timedelta(days=settings.warm_up_history_days),
        query_s=settings.warm_up_query_s,
        total_s=settings.warm_up_s,
    )
    warm_up = WarmUp(
        queries.plannings,
        components.query_history,
        # Without the end of a rehearsal, a shutdown would wait for it.
        lambda: components.engine.session if queries.is_taking else None,
        lambda: _is_busy(queries),
        bounds,
        clock,
    )
    components.stack.callback(warm_up.close)
    warm_up.start()


def _is_busy(queries: QueryService) -> bool:
    use = queries.workers.use
    return use.busy > 0 or use.waiting > 0
