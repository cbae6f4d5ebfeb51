"""How far a query is that this gateway holds."""

from __future__ import annotations

from service.model.query.progress import Phase, QueryProgress
from service.ports.engine.running_queries import RunningQueries
from service.query.registry.query_handle import QueryHandle


def progress_of(query: QueryHandle, running: RunningQueries) -> QueryProgress | None:
    """Returns how far the query is; None unless it runs."""
    if not query.is_running():
        return None
    # Before that, the engine knows nothing of it.
    has_begun = query.progress.phase is not Phase.PLANNING
    return query.progress.shown(running.progress(query.query_id) if has_begun else None)
