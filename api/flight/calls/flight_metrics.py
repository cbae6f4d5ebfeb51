"""Metrics of Arrow Flight SQL, with bounded labels."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service.errors.query_errors import QueryCanceled

BOUNDS_S = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
OK, CANCELED, FAILED, REFUSED = "ok", "canceled", "failed", "refused"


class FlightMetrics:
    """Counts calls by their method. Any thread may call its methods."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "sluice_flight_calls",
            "Ended calls of Arrow Flight SQL, by their method.",
            ["method", "outcome"],
            registry=registry,
        )
        self._durations = Histogram(
            "sluice_flight_call_duration_seconds",
            "Time from the beginning of a call to its end, with the wait for a result and all of its rows.",
            ["method"],
            buckets=BOUNDS_S,
            registry=registry,
        )
        self._sent = Counter(
            "sluice_flight_sent_bytes", "Bytes of rows in Arrow that were streamed.", registry=registry
        )
        self._open = Gauge("sluice_flight_calls_open", "Calls that are served now.", registry=registry)
        self._max = Gauge(
            "sluice_flight_calls_max", "Calls that are served at once at most.", registry=registry
        )
        self._prepared = Gauge(
            "sluice_flight_prepared_statements", "Prepared statements that are kept.", registry=registry
        )
        self._logins = Gauge(
            "sluice_flight_logins", "Connections that logged in with a password.", registry=registry
        )

    def watch(
        self, calls: Callable[[], int], at_most: int, prepared: Callable[[], int], logins: Callable[[], int]
    ) -> None:
        """Reports these numbers at each scrape."""
        self._open.set_function(calls)
        self._max.set(at_most)
        self._prepared.set_function(prepared)
        self._logins.set_function(logins)

    def ended(self, method: str, exception: BaseException | None, seconds: float) -> str:
        """Counts a call's end, and returns how it ended."""
        outcome = OK if exception is None else FAILED
        if QueryCanceled.code in str(exception):
            outcome = CANCELED
        self._calls.labels(method, outcome).inc()
        self._durations.labels(method).observe(seconds)
        return outcome

    def refused(self, method: str) -> None:
        """Counts a call that was not begun."""
        self._calls.labels(method, REFUSED).inc()

    def sent(self, count: int) -> None:
        """Counts bytes of rows."""
        self._sent.inc(count)
