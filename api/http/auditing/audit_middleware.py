"""Audits each request that does something, or that was refused a read."""

from __future__ import annotations

import time
from datetime import datetime
from uuid import uuid4

import orjson
import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.bootstrap.shown_settings import without_credentials
from api.http.auditing.audited_actions import action_of
from api.http.gateway_access import GatewayAccess
from api.http.middleware.request_caller import is_open
from api.http.middleware.request_log import PROBES
from api.http.problems.problems import MEDIA_TYPE, problem_response
from api.http.waiting import ClientGone
from service.audit.failed_logins import FailedLogins
from service.audit.outcomes import outcome_of
from service.audited import AuditedRequest, serving
from service.errors.gateway_error import GatewayError, PartDown
from service.model.audit.events import Action, AuditEvent, Details, Origin, Outcome
from service.model.authentication.principals import NOBODY, Principal
from service.ports.clock import Clock
from service.ports.stores.audit_log import AuditTrail

CLIENT_GONE = "CLIENT_GONE"
"""The code of an event whose client hung up before there was an answer."""
_REFUSED_READS = (403, 404)
_MAX_PROBLEM_BYTES = 1 << 20
_MAX_PATH = 1_000


class Auditing:
    """ASGI middleware, right within authentication: writes one event for each audited request.

    A request that cannot be audited is answered with a 503, and does nothing.
    """

    def __init__(
        self, app: ASGIApp, access: GatewayAccess, clock: Clock, failed_logins: FailedLogins
    ) -> None:
        self._app = app
        self._access = access
        self._clock = clock
        self._failed_logins = failed_logins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        action = _action(scope)
        if action is None:
            await self._app(scope, receive, send)
            return
        try:
            trail = self._access.gateway.audit.trail
            trail.follow(self._failed_logins.take)
            if action is not Action.READ:
                trail.reserve()
        except PartDown as down:
            if action is Action.READ:
                await self._app(scope, receive, send)
            else:
                await problem_response(down, scope["path"])(scope, receive, send)
            return
        await self._serve(action, trail, scope, receive, send)

    async def _serve(
        self, action: Action, trail: AuditTrail, scope: Scope, receive: Receive, send: Send
    ) -> None:
        request, answer = AuditedRequest(origin_of(scope)), _Answer(send)
        at, began_s = self._clock.now(), time.perf_counter()
        try:
            with serving(request):
                await self._app(scope, receive, answer.send)
        except ClientGone:
            answer.error_code = answer.error_code or CLIENT_GONE
            raise
        finally:
            if action is Action.READ:
                if answer.status in _REFUSED_READS and scope.get("route") is not None:
                    request.details = _refused_read(scope["path"])
                    trail.write(_event(action, request, answer, at=at, began_s=began_s))
            elif not request.is_handed_over:
                trail.write(_event(action, request, answer, at=at, began_s=began_s), is_reserved=True)


class _Answer:
    """Passes an answer on, and notes its status and the code of its problem."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        self.error_code: str | None = None
        self._problem: bytearray | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if Headers(raw=message["headers"]).get("content-type") == MEDIA_TYPE:
                self._problem = bytearray()
        elif self._problem is not None and len(self._problem) < _MAX_PROBLEM_BYTES:
            self._problem += message.get("body", b"")
            if not message.get("more_body", False):
                self.error_code = _code_of(self._problem)
        await self._send(message)


def _action(scope: Scope) -> Action | None:
    if scope["type"] != "http" or is_open(scope["path"]) or scope["path"] in PROBES:
        return None
    return action_of(scope["method"], scope["path"])


def _refused_read(path: str) -> Details:
    # A caller may send anything as an id, also a key.
    shown = without_credentials(path)
    return Details(target=shown[:_MAX_PATH], is_shortened=len(shown) > _MAX_PATH)


def origin_of(scope: Scope) -> Origin:
    """Returns who sent a request, by the principal in its state, and from where."""
    principal: Principal = scope.get("state", {}).get("principal", NOBODY)
    client = scope.get("client")
    request_id: str | None = structlog.contextvars.get_contextvars().get("request_id")
    return Origin(
        principal=principal.name,
        kind=principal.kind.value,
        roles=tuple(sorted(principal.roles)),
        caller_class=principal.caller_class,
        key_id=principal.key_id,
        address=client[0] if client else None,
        request_id=None if request_id is None else without_credentials(request_id),
    )


def _event(
    action: Action, request: AuditedRequest, answer: _Answer, *, at: datetime, began_s: float
) -> AuditEvent:
    error_code = answer.error_code
    if error_code is None and (answer.status is None or answer.status >= 400):
        error_code = GatewayError.code
    return AuditEvent(
        event_id=uuid4(),
        at=at,
        action=action,
        outcome=_outcome(answer.status, error_code, request.details),
        origin=request.origin,
        details=request.details,
        error_code=error_code,
        duration_ms=round((time.perf_counter() - began_s) * 1000),
    )


def _outcome(status: int | None, error_code: str | None, details: Details) -> Outcome:
    is_accepted = details.ingest_id is not None
    if status == 202 or (error_code == CLIENT_GONE and is_accepted):
        return Outcome.ALLOWED
    outcome = outcome_of(error_code)
    # The ingest was accepted, and its commit failed later.
    return Outcome.FAILED if outcome is Outcome.REFUSED and is_accepted else outcome


def _code_of(problem: bytearray) -> str | None:
    try:
        code = orjson.loads(problem)["code"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return code if isinstance(code, str) else None
