"""Lists queries, and sums up what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from service.model.query.history import PruningSummary, QueryListing, QuerySummary, TablePruning
from service.model.query.progress import QueuePlace
from service.model.query.replicas import SeenReplica
from service.model.tables.tables import TableName
from service.ports.clock import Clock
from service.ports.stores.query_store import QueryHistory
from service.ports.stores.replicas import SharedQueries
from service.query.registry.listed_queries import list_queries
from service.query.registry.query_registry import QueryRegistry
from service.query.workers.query_workers import QueryWorkers

SUMMARY_OF = timedelta(days=1)
RECENT = timedelta(days=7)
MOST_PLACES = 100


class QueryOverview:
    """The queries of the past and of now, many at once. Any thread may call any method."""

    def __init__(
        self,
        registry: QueryRegistry,
        workers: QueryWorkers,
        history: QueryHistory,
        clock: Clock,
        replicas: SharedQueries | None = None,
        has_others: Callable[[], bool] = lambda: True,
    ) -> None:
        """`has_others` says whether another replica may have open queries."""
        self._registry = registry
        self._workers = workers
        self._history = history
        self._clock = clock
        self._replicas = replicas
        self._has_others = has_others

    def replicas(self, limit: int) -> Sequence[SeenReplica]:
        """Lists the replicas that share the metrics store, those that were seen last first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return () if self._replicas is None else self._replicas.seen(limit)

    def list_queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Lists a caller's queries at all replicas, the newest first.

        One that has just ended may be missing for a moment, and one that has just begun at another replica.

        Raises:
            MetricsStoreDown: past queries cannot be read now.
        """
        # In this order: a query is open until its record is written.
        elsewhere = self._replicas.listed(listing) if self._replicas and self._has_others() else ()
        opened, now_ms = self._registry.open(), self._clock.elapsed_ms()
        return list_queries(listing, opened, elsewhere, self._history, now_ms)

    def places(self, query_ids: Iterable[UUID]) -> Mapping[UUID, QueuePlace]:
        """Returns where those of these queries wait that this gateway holds; the first `MOST_PLACES` only.

        To find a place takes as long as the queue is.
        """
        held = (self._registry.find(query_id) for query_id in islice(query_ids, MOST_PLACES))
        found = ((query.query_id, self._workers.place(query)) for query in held if query is not None)
        return {query_id: place for query_id, place in found if place is not None}

    def pruning_summary(self, since: datetime | None, table: str | None) -> PruningSummary:
        """Sums up what all callers read and pruned of each table; without `since`, in the last day.

        Raises:
            MetricsStoreDown: past queries cannot be read now.
        """
        beginning = since or self._clock.now() - SUMMARY_OF
        return PruningSummary(beginning, self._history.pruning(beginning, table))

    def recent_pruning(self, table: TableName) -> TablePruning | None:
        """Sums up what all callers read and pruned of a table in the last week; None: nothing is recorded.

        Raises:
            MetricsStoreDown: past queries cannot be read now.
        """
        found = self._history.pruning(self._clock.now() - RECENT, str(table))
        return next((pruning for pruning in found if pruning.table == str(table)), None)
