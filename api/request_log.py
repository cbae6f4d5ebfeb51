"""The outermost layer: names every request, writes its one log line, and answers for what nobody expected."""

from __future__ import annotations

import re
import time
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem_response
from api.waiting import ClientGone
from service.errors import GatewayError

HEADER = "X-Request-Id"
CLIENT_CLOSED_REQUEST = 499
"""What nginx logs for a client that hung up."""

_SANE = re.compile(r"[\x21-\x7e]{1,128}")
_log = structlog.stdlib.get_logger("api.request")


class RequestLog:
    """ASGI middleware: `X-Request-Id` on every answer, and the id on every log line of the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(Headers(scope=scope).get(HEADER))
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        answer = _Answer(send, request_id)
        started = time.perf_counter()
        try:
            await self._serve(scope, receive, answer)
        finally:
            elapsed_ms = round((time.perf_counter() - started) * 1000, 1)
            fields = {"method": scope["method"], "path": scope["path"], "status": answer.status}
            _log.info("request", **fields, elapsed_ms=elapsed_ms, caller=caller_in(scope))

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        try:
            await self._app(scope, receive, answer.send)
        except ClientGone:
            answer.status = CLIENT_CLOSED_REQUEST
        except Exception:
            # The outermost edge: whatever it was, the client gets an answer and the log the stack.
            _log.exception("unexpected error")
            if answer.status is not None:
                raise
            response = problem_response(
                GatewayError("Something went wrong that the gateway did not expect. The log has the cause."),
                scope["path"],
            )
            await response(scope, receive, answer.send)


class _Answer:
    """Sends an answer on, with the request's id, and remembers its status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[HEADER] = self._request_id
        await self._send(message)


def request_id_of(header: str | None) -> str:
    """The caller's own id if it is 1 to 128 printable ASCII characters without spaces; else a new one."""
    return header if header is not None and _SANE.fullmatch(header) else uuid4().hex


def caller_in(scope: Scope) -> str | None:
    """The caller whom `Authentication` found, if it came so far."""
    caller: str | None = scope.get("state", {}).get("caller")
    return caller
