"""The outermost layer: gives each request an id, writes its log line, and answers unexpected errors."""

from __future__ import annotations

import re
import time
from logging import DEBUG, INFO
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.problems.problems import problem_response
from api.http.waiting import AnswerCutOff, ClientGone
from service import tracing
from service.errors.gateway_error import GatewayError
from service.tracing import NOTHING, Span, TraceContext

HEADER = "X-Request-Id"
CLIENT_CLOSED_REQUEST = 499
"""The status that nginx logs for a client that hung up."""

PROBES = frozenset({"/healthz", "/livez", "/readyz", "/metrics"})
_SANE = re.compile(r"[\x21-\x7e]{1,128}")
_log = structlog.stdlib.get_logger("api.request")


class RequestLog:
    """ASGI middleware: adds `X-Request-Id` to answers and the ids to log lines, and begins the trace."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = request_id_of(headers.get(HEADER))
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        exchange = _Exchange(receive, send, request_id)
        started = time.perf_counter()
        with _traced(scope, headers) as span:
            try:
                await self._serve(scope, exchange)
            finally:
                elapsed_ms = round((time.perf_counter() - started) * 1000, 1)
                fields = _fields(scope, exchange)
                if span.is_recorded:
                    _report(span, scope, exchange, request_id)
                level = DEBUG if is_probe(scope) and (exchange.status or 500) < 400 else INFO
                _log.log(level, "request_ended", **fields, elapsed_ms=elapsed_ms)

    async def _serve(self, scope: Scope, exchange: _Exchange) -> None:
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except ClientGone:
            exchange.status = CLIENT_CLOSED_REQUEST
        except AnswerCutOff:
            # Returned without the end of the answer: the server closes the connection.
            return
        except Exception:
            # The outermost edge: for any error, the client gets an answer, and the log the stack.
            _log.exception("request_crashed")
            if exchange.status is not None:
                raise
            response = problem_response(
                GatewayError("The gateway met an unexpected error. The log has the cause."),
                scope["path"],
            )
            await response(scope, exchange.receive, exchange.send)


class _Exchange:
    """Passes a request and its answer on, adds the request's id, and counts the bytes of both bodies."""

    def __init__(self, receive: Receive, send: Send, request_id: str) -> None:
        self._receive = receive
        self._send = send
        self._request_id = request_id
        self.status: int | None = None
        self.bytes_in = 0
        self.bytes_out = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self.bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[HEADER] = self._request_id
        else:
            self.bytes_out += len(message.get("body", b""))
        await self._send(message)


def is_probe(scope: Scope) -> bool:
    """Whether the request is a probe, which comes every few seconds and is not worth a log line."""
    return scope["path"] in PROBES


def _fields(scope: Scope, exchange: _Exchange) -> dict[str, object]:
    return {
        "method": scope["method"],
        "path": scope["path"],
        "route": _route(scope),
        "status": exchange.status,
        "caller": caller_in(scope),
        "bytes_in": exchange.bytes_in,
        "bytes_out": exchange.bytes_out,
    }


def _traced(scope: Scope, headers: Headers) -> Span:
    parent = TraceContext.of(headers.get("traceparent"), headers.get("tracestate", ""))
    # Probes are not traced, unless the sender asks for it.
    return NOTHING if parent is None and is_probe(scope) else tracing.request(scope["method"], parent)


def _report(span: Span, scope: Scope, exchange: _Exchange, request_id: str) -> None:
    route = _route(scope)
    span.name(scope["method"] if route is None else f"{scope['method']} {route}")
    bound = structlog.contextvars.get_contextvars()
    span.note(
        {
            "http.request.method": scope["method"],
            "http.route": route,
            "url.path": scope["path"],
            "url.scheme": scope.get("scheme"),
            "http.response.status_code": exchange.status,
            "http.request.body.size": exchange.bytes_in,
            "http.response.body.size": exchange.bytes_out,
            "sluice.caller": caller_in(scope),
            "sluice.request_id": request_id,
            "sluice.query_id": bound.get("query_id"),
            "sluice.ingest_id": bound.get("ingest_id"),
        }
    )
    if exchange.status is None or exchange.status >= 500:
        span.fail(str(exchange.status or 500))


def _route(scope: Scope) -> str | None:
    """Returns the route's path with names in place of ids; None if no route was found."""
    found: str | None = getattr(scope.get("route"), "path", None)
    return found


def request_id_of(header: str | None) -> str:
    """Returns the caller's id if it is 1 to 128 printable ASCII characters without spaces; else a new one."""
    return header if header is not None and _SANE.fullmatch(header) else uuid4().hex


def caller_in(scope: Scope) -> str | None:
    """Returns the caller that `Authentication` found, if the request got that far."""
    caller: str | None = scope.get("state", {}).get("caller")
    return caller
