"""Counts lineage events in this process, from its start."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

SENT, DROPPED, UNDELIVERED = OUTCOMES = ("SENT", "DROPPED", "UNDELIVERED")


class RegisteredLineageMetrics:
    """Counts in a registry shared with others. Thread-safe."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter(
            "sluice_lineage_events",
            "OpenLineage events: SENT; DROPPED because too many waited; UNDELIVERED within the time limit.",
            ["outcome"],
            registry=registry,
        )
        for outcome in OUTCOMES:
            self._events.labels(outcome)

    def sent(self, count: int) -> None:
        """Counts delivered events."""
        self._events.labels(SENT).inc(count)

    def dropped(self, count: int) -> None:
        """Counts events that were dropped because the queue was full."""
        self._events.labels(DROPPED).inc(count)

    def undelivered(self, count: int) -> None:
        """Counts events that could not be delivered."""
        self._events.labels(UNDELIVERED).inc(count)
