"""The ports that streams are run with, and their pace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from service.ingest.streaming.creator_policies import CreatorRights, NoCreatorPolicies
from service.ingest.streaming.no_stream_metrics import NoStreamMetrics
from service.model.ingest.streams import StreamDefinition
from service.ports.clock import Clock
from service.ports.engine.stream_queries import StreamQueries
from service.ports.stores.stream_store import StreamStore
from service.ports.tables.stream_sources import StreamSources
from service.ports.telemetry.stream_metrics import StreamMetrics

ReadBody = Callable[[Mapping[str, Any]], StreamDefinition]
"""A function that reads a stream from its original body; raises IngestInvalid if this version cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPace:
    """The number of streams that one replica runs, and its polling times in milliseconds."""

    running_at_most: int = 20
    look_around_ms: int = 2_000
    first_pause_ms: int = 1_000
    longest_pause_ms: int = 60_000
    standing_ms: int = 10_000
    """How often all streams are counted, and those that run here are asked for their progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPorts:
    """The ports that streams are run with."""

    store: StreamStore
    queries: StreamQueries
    sources: StreamSources
    clock: Clock
    metrics: StreamMetrics = field(default_factory=NoStreamMetrics)
    policies: CreatorRights = field(default_factory=NoCreatorPolicies)
    """Decides whether a stream's creator may still write."""
