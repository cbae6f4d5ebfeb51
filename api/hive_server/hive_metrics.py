"""Metrics of HiveServer2's protocol."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge

OUTCOMES = ("succeeded", "failed", "canceled")


class HiveMetrics:
    """Counts connections and operations. Its methods must be called on the event loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._connections = Gauge(
            "sluice_hive_connections", "Open connections of HiveServer2's protocol.", registry=registry
        )
        self._refused = Counter(
            "sluice_hive_connections_refused",
            "Connections that were closed before a call, by the reason.",
            ["reason"],
            registry=registry,
        )
        self._open = Gauge(
            "sluice_hive_open_operations",
            "Statements and metadata calls whose clients have not closed them.",
            registry=registry,
        )
        self._kept_chunks = Gauge(
            "sluice_hive_kept_chunks_bytes",
            "Chunks of results in memory, because clients have read them in part.",
            registry=registry,
        )
        self._operations = Counter(
            "sluice_hive_operations",
            "Statements and metadata calls that have ended, by kind and outcome.",
            ["kind", "outcome"],
            registry=registry,
        )

    def watch_connections(self, count: Callable[[], int]) -> None:
        """Asks for the number of connections from now on."""
        self._connections.set_function(count)

    def watch_operations(self, count: Callable[[], int]) -> None:
        """Asks for the number of open operations from now on."""
        self._open.set_function(count)

    def watch_kept_chunks(self, byte_count: Callable[[], int]) -> None:
        """Asks for the bytes of kept chunks from now on."""
        self._kept_chunks.set_function(byte_count)

    def refused(self, reason: str) -> None:
        """Counts a connection that was refused."""
        self._refused.labels(reason).inc()

    def ended(self, kind: str, outcome: str) -> None:
        """Counts an operation that has ended."""
        self._operations.labels(kind, outcome).inc()
