"""How far a query is that this gateway holds."""

from __future__ import annotations

from collections.abc import Callable

from service.model.query.progress import Phase, QueryProgress, QueuePlace
from service.model.query.query import QueryState
from service.model.query.replicas import ProgressReport
from service.ports.engine.running_queries import RunningQueries
from service.query.registry.query_handle import QueryHandle


def progress_of(query: QueryHandle, running: RunningQueries) -> QueryProgress | None:
    """Returns how far the query is; None unless it runs."""
    if not query.is_running():
        return None
    # Before that, the engine knows nothing of it.
    has_begun = query.progress.phase is not Phase.PLANNING
    return query.progress.shown(running.progress(query.query_id) if has_begun else None)


def report_of(
    query: QueryHandle, place: Callable[[QueryHandle], QueuePlace | None], running: RunningQueries
) -> ProgressReport:
    """Returns where the query waits, and how far it is, for other replicas."""
    queue = place(query) if query.record.state is QueryState.QUEUED else None
    return ProgressReport(queue, progress_of(query, running))
