"""Work by the clock: timeouts, repeated cancellations, and expired results."""

from __future__ import annotations

import structlog

from service.errors.query_errors import QueryTimedOut
from service.query.execution.run_query import QueryPorts
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from service.query.registry.recorded import record

log = structlog.get_logger(__name__)

# A stopped job of the engine returns within moments; one that does not hangs where no cancel reaches it.
GRACE_MS = 5_000


def end_late_queries(book: QueryRegistry, ports: QueryPorts) -> list[QueryHandle]:
    """Cancels every query past its deadline, and repeats cancellations that the engine may have missed.

    The engine stops only what runs at the moment of the call; a query may start its next step right after. A
    query that hangs outside of the engine's reach is ended after `GRACE_MS`, although its worker is not free:
    these queries are returned.
    """
    given_up: list[QueryHandle] = []
    now_ms = ports.clock.elapsed_ms()
    for query in book.open():
        if now_ms >= query.deadline_ms:
            seconds = query.request.timeout_ms / 1000
            if query.cancel(QueryTimedOut(f"The query exceeded its timeout of {seconds:g} s."), now_ms):
                record(query, ports.journal)
        if query.is_running() and query.give_up(GRACE_MS, now_ms):
            log.warning("query_given_up", query_id=str(query.query_id), timeout_ms=query.request.timeout_ms)
            record(query, ports.journal)
            given_up.append(query)
        elif query.is_canceled() and query.is_running():
            ports.engine.cancel(query.query_id)
    return given_up


def forget_old_queries(book: QueryRegistry, ports: QueryPorts) -> None:
    """Drops queries that ended long ago, and their results with them."""
    for query_id in book.forget_ended(ports.clock.elapsed_ms()):
        ports.results.drop(query_id)
