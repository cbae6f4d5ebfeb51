"""Records steps as OpenTelemetry spans."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import NotAdmitted
from service.tracing import PropagatedSpan, Span, TraceContext, Values, enter, leave


class RecordedSpan:
    """Implements `service.tracing.Span`. It is also the current span for libraries that make their own."""

    def __init__(self, tracer: trace.Tracer, span: trace.Span) -> None:
        self._tracer = tracer
        self._span = span
        self._within = trace.set_span_in_context(span, otel_context.Context())
        self._context = _reported(span.get_span_context())
        self._token: contextvars.Token[Span] | None = None
        self._attached: contextvars.Token[otel_context.Context] | None = None

    @property
    def context(self) -> TraceContext:
        """The ids of the span."""
        return self._context

    @property
    def is_recorded(self) -> bool:
        """Always true."""
        return True

    def __enter__(self) -> Self:
        """Makes the span the current one."""
        self._attached = otel_context.attach(self._within)
        self._token = enter(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the span."""
        if self._token is not None:
            leave(self._token)
        if self._attached is not None:
            otel_context.detach(self._attached)
        if error is not None and not isinstance(error, NotAdmitted):
            self.fail(error.code if isinstance(error, GatewayError) else type(error).__name__)
        self._span.end()

    def name(self, name: str) -> None:
        """See the port."""
        self._span.update_name(name)

    def note(self, values: Values) -> None:
        """See the port."""
        self._span.set_attributes({name: value for name, value in values.items() if value is not None})

    def fail(self, code: str) -> None:
        """See the port."""
        self._span.set_status(Status(StatusCode.ERROR, code))
        self._span.set_attribute("error.type", code)

    def step(self, name: str, since: datetime | None = None) -> RecordedSpan:
        """See the port."""
        began_ns = None if since is None else int(since.timestamp() * 1_000_000) * 1_000
        return RecordedSpan(self._tracer, self._tracer.start_span(name, self._within, start_time=began_ns))

    def past(self, name: str, began_ns: int, ended_ns: int, values: Values) -> RecordedSpan:
        """See the port."""
        over = RecordedSpan(self._tracer, self._tracer.start_span(name, self._within, start_time=began_ns))
        over.note(values)
        over._span.end(max(ended_ns, began_ns))
        return over


class RecordingTracer:
    """Implements `service.tracing.Tracer`."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def request(self, name: str, parent: TraceContext | None) -> Span:
        """See the port. If the trace is not sampled, the span has only the ids."""
        return self._begun(self._tracer.start_span(name, _remote(parent), SpanKind.SERVER))

    def together(self, name: str, parent: TraceContext, links: Sequence[TraceContext]) -> Span:
        """See the port."""
        linked = [Link(_ids(link)) for link in links]
        return self._begun(self._tracer.start_span(name, _remote(parent), links=linked))

    def _begun(self, span: trace.Span) -> Span:
        return (
            RecordedSpan(self._tracer, span)
            if span.is_recording()
            else PropagatedSpan(_reported(span.get_span_context()))
        )


def _reported(ids: SpanContext) -> TraceContext:
    return TraceContext(
        trace.format_trace_id(ids.trace_id),
        trace.format_span_id(ids.span_id),
        bool(ids.trace_flags.sampled),
        ids.trace_state.to_header(),
    )


def _remote(parent: TraceContext | None) -> otel_context.Context:
    nowhere = otel_context.Context()
    return nowhere if parent is None else trace.set_span_in_context(NonRecordingSpan(_ids(parent)), nowhere)


def _ids(of: TraceContext) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED if of.is_sampled else TraceFlags.DEFAULT)
    state = TraceState.from_header([of.state]) if of.state else None
    return SpanContext(int(of.trace_id, 16), int(of.span_id, 16), True, flags, state)
