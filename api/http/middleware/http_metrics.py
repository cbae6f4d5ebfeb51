"""Metrics of HTTP: requests by route, connections, and the threads that requests wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import Scope

from api.http.lane import LaneUse

BOUNDS_S = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
NO_ROUTE, OTHER_METHOD = "none", "OTHER"
GONE = "gone"
"""The client hung up before an answer began."""


class HttpMetrics:
    """Metrics with bounded labels: routes are templates, and methods are those that the route serves.

    Its methods must be called on the event loop's thread.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._requests = Counter(
            "sluice_http_requests",
            "Ended requests, by the template of their route.",
            ["route", "method", "status"],
            registry=registry,
        )
        self._durations = Histogram(
            "sluice_http_request_duration_seconds",
            "Time from a request's head to the end of its answer, including the wait for a result.",
            ["route", "method"],
            buckets=BOUNDS_S,
            registry=registry,
        )
        self._open = Gauge(
            "sluice_http_requests_open", "Requests that the gateway serves now.", registry=registry
        )
        self._connections = Gauge("sluice_http_connections", "Open connections.", registry=registry)
        self._max_connections = Gauge(
            "sluice_http_connections_max", "Maximum number of open connections.", registry=registry
        )

        self._event_streams = Gauge(
            "sluice_http_event_streams", "Open streams of queries' events.", registry=registry
        )
        self._max_event_streams = Gauge(
            "sluice_http_event_streams_max",
            "Maximum number of open streams of queries' events.",
            registry=registry,
        )

    def begun(self) -> None:
        """Counts a request as open."""
        self._open.inc()

    def ended(self, scope: Scope, status: int | None, seconds: float) -> None:
        """Counts the end of a request. Without a status, its client has hung up."""
        route, method = named(scope)
        self._open.dec()
        self._requests.labels(route, method, GONE if status is None else f"{status // 100}xx").inc()
        self._durations.labels(route, method).observe(seconds)

    def watch_connections(self, count: Callable[[], int], at_most: int) -> None:
        """Reports the number of open connections at each scrape."""
        self._connections.set_function(count)
        self._max_connections.set(at_most)

    def watch_event_streams(self, count: Callable[[], int], at_most: int) -> None:
        """Reports the number of open streams of events at each scrape."""
        self._event_streams.set_function(count)
        self._max_event_streams.set(at_most)

    def watch_lanes(self, lanes: Callable[[], Mapping[str, LaneUse]]) -> None:
        """Reports the running and waiting calls of the lanes at each scrape."""
        self._registry.register(_Lanes(lanes))


class _Lanes(Collector):
    def __init__(self, lanes: Callable[[], Mapping[str, LaneUse]]) -> None:
        self._lanes = lanes

    def collect(self) -> Iterable[Metric]:
        busy = GaugeMetricFamily(
            "sluice_lane_busy", "Calls of requests that run in threads now, by lane.", labels=["lane"]
        )
        size = GaugeMetricFamily(
            "sluice_lane_size", "Maximum number of calls that run at the same time.", labels=["lane"]
        )
        waiting = GaugeMetricFamily(
            "sluice_lane_waiting", "Calls of requests that wait for a thread now.", labels=["lane"]
        )
        for name, use in self._lanes().items():
            busy.add_metric([name], use.busy)
            size.add_metric([name], use.size)
            waiting.add_metric([name], use.waiting)
        return busy, size, waiting


def named(scope: Scope) -> tuple[str, str]:
    """Returns the template of a request's route, and its method, as labels.

    >>> named({"method": "GET", "path": "/no/such/thing"})
    ('none', 'OTHER')
    """
    route = scope.get("route")
    template = getattr(route, "path_format", None)
    if template is None:
        return NO_ROUTE, OTHER_METHOD
    method = str(scope["method"])
    return str(template), method if method in (getattr(route, "methods", None) or ()) else OTHER_METHOD
