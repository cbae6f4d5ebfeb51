"""Counts what streams do in this process, from its start, and reports their state."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import gauges
from service.model.ingest.stream_standing import StreamStanding


class RegisteredStreamMetrics:
    """The `StreamMetrics` port in a registry shared with others. Thread-safe."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._batches = Counter(
            "sluice_stream_batches",
            "Micro-batches of streams that were committed to their tables.",
            registry=registry,
        )
        self._failures = Counter(
            "sluice_stream_failures",
            "Failed runs of streams, by error code; most of them are tried again.",
            ["code"],
            registry=registry,
        )

    def batch_done(self) -> None:
        """Counts a micro-batch that is in its tables."""
        self._batches.inc()

    def failed(self, code: str) -> None:
        """Counts a run that failed."""
        self._failures.labels(code).inc()


class StreamCollector(Collector):
    """The state of the streams, as far as this process knows; it calls no other part."""

    def __init__(self, standing: Callable[[], StreamStanding]) -> None:
        self._standing = standing

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        standing = self._standing()
        yield gauges(
            "sluice_streams",
            "Streams of all gateways by state, as of the last poll.",
            "state",
            {state.value: count for state, count in standing.by_state.items()},
        )
        yield GaugeMetricFamily(
            "sluice_streams_run_here", "Streams that this gateway runs.", standing.run_here
        )
        yield GaugeMetricFamily(
            "sluice_stream_lag_seconds",
            "Longest time without a finished batch or an empty source, among this gateway's streams.",
            standing.longest_lag_s,
        )
        yield GaugeMetricFamily(
            "sluice_stream_lag_messages",
            "Messages in Kafka that this gateway's streams have not read yet.",
            standing.messages_behind,
        )
