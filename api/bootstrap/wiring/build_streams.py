"""Wires the parts of large inputs and of streams, for `api.bootstrap.wiring.build_gateway`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from api.bootstrap.settings import Settings
from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.adapters.catalogs.store_region import with_region
from service.adapters.postgres.streams.stream_store import PostgresStreamStore
from service.adapters.sources.find import FoundSources
from service.adapters.sources.open import SplitsOfStorage
from service.adapters.sources.storage import SourceAccess
from service.adapters.sources.stream_sources import AllowedStreamSources, AllowedTopics
from service.adapters.staging.staged_bodies import StagedBodies
from service.adapters.staging.task_spools import TaskSpools
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.adapters.telemetry.stream_metrics import StreamCollector
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.distributed.large_parts import LargeBounds, LargeInputs
from service.ingest.ingest_service import IngestService, ReadSchema
from service.ingest.streaming.creator_policies import CreatorRights
from service.ingest.streaming.stream_ports import StreamPace, StreamPorts
from service.ingest.streaming.stream_service import StreamService
from service.model.ingest.sources import SourceBounds
from service.model.ingest.streams import StreamDefinition
from service.ports.clock import Clock
from spark_session.engine.engine import SparkEngine
from spark_session.settings.settings import is_local
from spark_session.streaming.executors import SparkExecutors
from spark_session.streaming.stream_queries import SparkStreamQueries

ReadStream = Callable[[Mapping[str, Any], ReadSchema], StreamDefinition]
"""Reads a stream's definition from its stored body, perhaps of an earlier version."""

_ENTRIES_A_FILE = 20
_STEPS_AN_ENTRY = 10


def large_inputs(settings: Settings, engine: SparkEngine) -> LargeInputs:
    """Builds the parts that write sources and large bodies."""
    access = _access(settings)
    bounds = LargeBounds(
        split_bytes=settings.ingest_split_bytes,
        body_bytes=settings.ingest_executed_body_bytes,
        upsert_bytes=settings.ingest_upsert_bytes,
        # Finding where a page begins in a remote file would take a request for each page.
        source_reading=replace(
            body_bounds(settings), body_bytes=settings.ingest_source_max_bytes, has_pages_checked=False
        ),
        body_reading=body_bounds(settings),
    )
    bodies = StagedBodies(sees_disk=is_local(settings.spark_master))
    executors = SparkExecutors(lambda: engine.session)
    return LargeInputs(
        executors=executors,
        sources=_sources(settings),
        open_split=SplitsOfStorage(access),
        bodies=bodies,
        spools=TaskSpools(),
        bounds=bounds,
    )


def body_bounds(settings: Settings) -> ReadBounds:
    """Returns the bounds on decompressed bodies, for all their readers."""
    return ReadBounds(
        body_bytes=settings.ingest_max_decompressed_bytes,
        batch_bytes=settings.ingest_max_batch_bytes,
        line_bytes=settings.ingest_max_line_bytes,
        rest_bytes=settings.ingest_max_rest_bytes,
    )


def build_streams(
    settings: Settings,
    engine: SparkEngine,
    ingests: IngestService,
    store_url: str,
    checkpoints: Path,
    clock: Clock,
    stack: ExitStack,
    metrics: QueryMetrics,
    read_stream: ReadStream,
    policies: CreatorRights,
) -> StreamService:
    """Begins to run the streams that have to run. The store's tables must exist."""
    store = PostgresStreamStore(store_url)
    stack.callback(store.close)
    queries = SparkStreamQueries(
        lambda: engine.session,
        settings.stream_checkpoints or checkpoints.as_uri(),
        settings.stream_kafka_options,
    )
    topics = AllowedTopics(settings.stream_kafka_servers, settings.stream_kafka_topics)
    sources = AllowedStreamSources(_sources(settings), _access(settings), topics)
    streams = StreamService(
        StreamPorts(
            store=store,
            queries=queries,
            sources=sources,
            clock=clock,
            metrics=metrics.streams,
            policies=policies,
        ),
        ingests,
        lambda body: read_stream(body, schema_from_json),
        StreamPace(running_at_most=settings.stream_max_running),
    )
    stack.callback(streams.runner.close, 0)
    metrics.pools.add("streams", lambda: store.pool)
    metrics.watch(StreamCollector(streams.runner.standing))
    streams.runner.start()
    return streams


def _access(settings: Settings) -> SourceAccess:
    return SourceAccess(settings.ingest_source_prefixes, with_region(settings.ingest_source_properties))


def _sources(settings: Settings) -> FoundSources:
    most = settings.ingest_source_max_files
    bounds = SourceBounds(
        files=most,
        byte_count=settings.ingest_source_max_bytes,
        entries=most * _ENTRIES_A_FILE,
        steps=most * _ENTRIES_A_FILE * _STEPS_AN_ENTRY,
        listing_ms=settings.ingest_source_listing_timeout_s * 1000,
        untagged_bytes=settings.ingest_split_bytes,
    )
    return FoundSources(_access(settings), bounds)
