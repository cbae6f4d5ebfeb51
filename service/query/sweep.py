"""What must happen by the clock: timeouts, cancellations that have to be said again, results that end."""

from __future__ import annotations

from service.errors import QueryTimedOut
from service.query.book import QueryBook
from service.query.run import QueryPorts, record


def end_late_queries(book: QueryBook, ports: QueryPorts) -> None:
    """Cancels every query that is past its deadline, and says again what the engine may have missed.

    The engine stops what runs at the moment of the call; a query may start its next step right after.
    """
    now_ms = ports.clock.elapsed_ms()
    for query in book.open():
        if now_ms >= query.deadline_ms:
            seconds = query.request.timeout_ms / 1000
            if query.cancel(QueryTimedOut(f"The query ran into its timeout of {seconds:g} s."), now_ms):
                record(query, ports.journal)
        if query.is_canceled() and query.is_running():
            ports.engine.cancel(query.query_id)


def forget_old_queries(book: QueryBook, ports: QueryPorts) -> None:
    """Drops queries that ended long ago, and their results with them."""
    for query_id in book.forget_ended(ports.clock.elapsed_ms()):
        ports.results.drop(query_id)
