"""Sends spans to the collector. A collector that is down delays no request."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Self
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import Link, SpanKind, Status, TraceState
from opentelemetry.util.types import Attributes

from api.bootstrap.settings import Settings
from api.bootstrap.settings.recording.tracing import headers_of
from api.bootstrap.shown_settings import secrets_of
from api.bootstrap.tracing.libraries import instrument, uninstrument
from api.bootstrap.tracing.masked_spans import masked_span
from api.bootstrap.tracing.recording import RecordingTracer
from service.tracing import LINKS_AT_MOST

_log = structlog.stdlib.get_logger("api.tracing")

SCOPE = "sluice"
TRACES_PATH = "/v1/traces"
EXPORT_EVERY_MS = 1_000
SPANS_AT_ONCE = 512
ATTRIBUTES_AT_MOST = 64
LONGEST_ATTRIBUTE = 4_096
TEXTS = frozenset({"db.query.text", "db.statement"})
"""Attributes that contain SQL, the gateway's or callers'."""


class Exporting:
    """Exports spans, from its start to its stop."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self.tracer = RecordingTracer(provider.get_tracer(SCOPE, _version()))

    @classmethod
    def start(cls, settings: Settings) -> Self:
        """Sends spans to the settings' collector, including those of the clients of PostgreSQL and Redis."""
        provider = TracerProvider(
            sampler=WithinRequests(settings.traces_sample_ratio),
            resource=_resource(),
            # `stop` shuts it down within a bound, which the shutdown at the interpreter's exit does not have.
            shutdown_on_exit=False,
            span_limits=SpanLimits(
                max_span_attributes=ATTRIBUTES_AT_MOST,
                max_links=LINKS_AT_MOST,
                max_span_attribute_length=LONGEST_ATTRIBUTE,
            ),
        )
        processor = BatchSpanProcessor(
            ReportingExporter(
                _exporter(settings), has_texts=settings.traces_sql, secrets=secrets_of(settings)
            ),
            max_queue_size=settings.traces_queue_spans,
            schedule_delay_millis=EXPORT_EVERY_MS,
            max_export_batch_size=SPANS_AT_ONCE,
        )
        provider.add_span_processor(processor)
        instrument(provider)
        return cls(provider)

    def stop(self, within_s: float) -> None:
        """Sends what is left within this time; the rest is lost."""
        uninstrument()
        # The SDK's own bounds are half a minute, and twice the time that the collector may take.
        stopping = threading.Thread(target=self._provider.shutdown, name="traces-stop", daemon=True)
        stopping.start()
        stopping.join(within_s)
        if stopping.is_alive():
            _log.warning("last_traces_not_exported", waited_s=within_s)


class WithinRequests(Sampler):
    """Samples traces that begin here by this ratio, and others as their parents decide.

    Spans of libraries outside of any trace are dropped: each poll of a background thread would be a trace.
    """

    def __init__(self, ratio: float) -> None:
        self._traces = ParentBased(TraceIdRatioBased(ratio))

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """See the SDK."""
        is_alone = not trace.get_current_span(parent_context).get_span_context().is_valid
        deciding = ALWAYS_OFF if kind is SpanKind.CLIENT and is_alone else self._traces
        return deciding.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)

    def get_description(self) -> str:
        """See the SDK."""
        return "WithinRequests"


class ReportingExporter(SpanExporter):
    """Drops texts that the operator does not want, and logs once when the collector takes no spans.

    The words of callers and libraries are sent without credentials, and without any of `secrets`.
    """

    def __init__(
        self, exporter: SpanExporter, *, has_texts: bool, secrets: Collection[str] = frozenset()
    ) -> None:
        self._exporter = exporter
        self._has_texts = has_texts
        self._secrets = secrets
        self._lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See the SDK."""
        kept = spans if self._has_texts else [without_texts(span) for span in spans]
        shown = [masked_span(span, self._secrets) for span in kept]
        result = self._exporter.export(shown)
        if result is SpanExportResult.SUCCESS:
            if self._lost:
                _log.info("traces_exported_again", lost_spans=self._lost)
            self._lost = 0
        else:
            if not self._lost:
                _log.warning("traces_not_exported", spans=len(spans))
            self._lost += len(spans)
        return result

    def shutdown(self) -> None:
        """See the SDK."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """See the SDK."""
        return self._exporter.force_flush(timeout_millis)


def without_texts(span: ReadableSpan) -> ReadableSpan:
    """Returns the span without SQL and without the messages of libraries' errors, which may hold values.

    The gateway's own steps have only the code of an error.
    """
    attributes = span.attributes or {}
    if not (TEXTS & attributes.keys() or span.events or _has_words(span)):
        return span
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={name: attribute for name, attribute in attributes.items() if name not in TEXTS},
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code) if _has_words(span) else span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _has_words(span: ReadableSpan) -> bool:
    scope = span.instrumentation_scope
    return bool(span.status.description) and (scope is None or scope.name != SCOPE)


def collector_address(endpoint: str) -> str:
    """Returns the address that spans are sent to.

    >>> collector_address("http://otel:4318"), collector_address("https://otel/in/traces")
    ('http://otel:4318/v1/traces', 'https://otel/in/traces')
    """
    return endpoint if urlsplit(endpoint).path.strip("/") else endpoint.rstrip("/") + TRACES_PATH


def _exporter(settings: Settings) -> OTLPSpanExporter:
    assert settings.traces_endpoint is not None
    given = settings.traces_headers
    return OTLPSpanExporter(
        endpoint=collector_address(settings.traces_endpoint),
        headers={} if given is None else headers_of(given.get_secret_value()),
        timeout=settings.traces_export_timeout_s,
        compression=Compression.Gzip,
    )


def _resource() -> Resource:
    # Includes OTEL_RESOURCE_ATTRIBUTES, as an operator on Kubernetes sets it.
    own = {"service.name": "sluice", "service.version": _version(), "service.instance.id": str(uuid4())}
    return Resource.create(own)


def _version() -> str:
    try:
        return version("sluice-gateway")
    except PackageNotFoundError:
        return "0"
