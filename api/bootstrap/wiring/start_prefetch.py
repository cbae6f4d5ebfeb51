"""Collects key sets after commits, before queries ask for them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.model.query.query import QueryRequest
from service.ports.clock import Clock
from service.query.execution.check_parameters import check_parameters
from service.query.execution.run_query import QueryPorts
from service.query.execution.validate import validate
from service.query.prefetch.frequent_sets import FrequentBounds, FrequentSets
from service.query.prefetch.key_prefetch import KeyPrefetch, PrefetchBounds, PrefetchParts
from service.query.prefetch.rights import PrefetchRights
from service.query.prefetch.watched_tables import WatchedTables
from service.query.query_service import QueryService

# Reading the records of a day takes longer than a look at tables, and says nearly the same each time.
READ_AFTER_LOOKS = 30


def start_prefetch(
    settings: Settings,
    components: Components,
    ports: QueryPorts,
    queries: QueryService,
    clock: Clock,
    *,
    is_governed: bool,
) -> KeyPrefetch:
    """Starts a thread that looks for commits; it ends with the components. `is_governed`: policies decide."""
    history_s = settings.dynamic_filtering_prefetch_history_s
    sets_per_table = settings.dynamic_filtering_prefetched_sets
    bounds = FrequentBounds(
        history=timedelta(seconds=history_s),
        tables=settings.dynamic_filtering_prefetch_tables,
        sets_per_table=sets_per_table,
        read_every_ms=round(1000 * READ_AFTER_LOOKS * settings.dynamic_filtering_prefetch_interval_s),
    )
    prefetch = KeyPrefetch(
        PrefetchParts(
            sets=ports.pruner.prefetched,
            frequent=FrequentSets(components.query_history, clock, bounds),
            tables=WatchedTables(components.all_catalogs),
            rights=PrefetchRights(components.asked_requests, 1000 * history_s, is_governed=is_governed),
            collectors=lambda: components.collectors.use,
            is_taking=lambda: queries.is_taking and components.engine.session is not None,
            check=partial(_check, ports),
            clock=clock,
        ),
        PrefetchBounds(
            sets_per_table=sets_per_table,
            round_s=settings.dynamic_filtering_prefetch_s,
            interval_s=settings.dynamic_filtering_prefetch_interval_s,
        ),
    )
    components.stack.callback(prefetch.close)
    prefetch.start()
    return prefetch


def _check(ports: QueryPorts, request: QueryRequest) -> None:
    validate(request.sql, ports.max_sql_bytes, ports.max_sql_nesting)
    check_parameters(request.sql, request.parameters)
