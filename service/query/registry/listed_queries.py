"""Lists queries of a caller, or of all: the open ones together with the recorded ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.model.query.history import QueryListing, QuerySummary, summary_of
from service.ports.stores.query_store import QueryHistory
from service.query.registry.query_handle import QueryHandle


def list_queries(
    listing: QueryListing,
    open_queries: Iterable[QueryHandle],
    elsewhere: Iterable[QuerySummary],
    history: QueryHistory,
    now_ms: int,
) -> Sequence[QuerySummary]:
    """Returns the newest first. A query that has just ended may be missing until its record is written.

    `elsewhere` are those that are open at other replicas, of this listing.

    Raises:
        MetricsStoreDown: the records cannot be read now.
    """
    statuses = [query.status(now_ms) for query in open_queries if listing.caller in (None, query.caller)]
    live = [summary_of(status.record, status.elapsed_ms) for status in statuses]
    found = {summary.query_id: summary for summary in elsewhere}
    found |= {summary.query_id: summary for summary in live if listing.takes(summary)}
    # A query that has ended since may be in both; its record is newer.
    found |= {query.query_id: query for query in history.queries(listing)}
    return sorted(found.values(), key=lambda summary: summary.position, reverse=True)[: listing.limit]
