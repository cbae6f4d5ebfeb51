"""An OTLP/HTTP trace collector for tests: it stores what it receives, and can be unavailable for a while."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(frozen=True, slots=True)
class Received:
    """A span as it was received."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: Mapping[str, Any]
    links: tuple[tuple[str, str], ...]
    error: str | None
    began_ns: int
    ended_ns: int
    scope: str
    events: int
    text: str
    """The whole span as text, in which tests search for values that must not appear."""


@dataclass
class Collector:
    """Stores the spans it receives. It answers with the status `answer`, after `pause_s` seconds."""

    url: str
    answer: int = 200
    pause_s: float = 0.0
    spans: list[Received] = field(default_factory=list)
    resources: list[Mapping[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str, trace_id: str | None = None) -> list[Received]:
        """Returns the spans of this name, ordered by start."""
        found = [span for span in self.spans if span.name == name and trace_id in (None, span.trace_id)]
        return sorted(found, key=lambda span: span.began_ns)

    def take(self, body: bytes) -> None:
        """Decodes a request's body and stores its spans."""
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(_values(resource.resource.attributes))
            for scope in resource.scope_spans:
                self.spans += [_received(span, scope.scope.name) for span in scope.spans]


@contextmanager
def collector() -> Iterator[Collector]:
    """Runs a collector on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            found.headers.append({name.lower(): header for name, header in self.headers.items()})
            found.asked.set()
            found.released.wait(found.pause_s)
            if found.answer == 200:
                found.take(body)
            self.send_response(found.answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, name="collector", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.released.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def within(span: Received, others: list[Received]) -> list[str]:
    """Returns the names of the span's ancestors, outermost first, and then its own."""
    by_id = {other.span_id: other for other in others}
    path = [span]
    while path[0].parent_id in by_id:
        path.insert(0, by_id[path[0].parent_id])
    return [member.name for member in path]


def waited_for(probe: Any, within_s: float = 30.0) -> Any:
    """Polls until the probe returns something true, and returns that."""
    deadline = time.monotonic() + within_s
    while not (answer := probe()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s"
        time.sleep(0.02)
    return answer


def _received(span: Span, scope: str) -> Received:
    return Received(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        attributes=_values(span.attributes),
        links=tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        error=span.status.message if span.status.code == 2 else None,
        began_ns=span.start_time_unix_nano,
        ended_ns=span.end_time_unix_nano,
        scope=scope,
        events=len(span.events),
        text=str(span),
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {attribute.key: _value(attribute.value) for attribute in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind)
