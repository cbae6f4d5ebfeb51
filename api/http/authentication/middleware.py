"""Admits requests whose caller is known."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.authentication.authenticator import Authenticator, Sent
from api.http.connections.client_certificate import EXTENSION
from api.http.connections.peers import peer_of
from api.http.middleware.authentication_metrics import AuthenticationMetrics
from api.http.middleware.callers import OPEN_PATHS, calling
from api.http.problems.problems import problem_response
from service.errors import CredentialFault, CredentialRefused, GatewayError, PartDown, TooManyFailures
from service.model.authentication.principals import Principal

NoteFailure = Callable[[Sent, CredentialRefused], None]
"""Gets each failure, with the error that says why."""
_log = structlog.stdlib.get_logger("api.authentication")


class Authentication:
    """ASGI middleware: puts `principal`, and its name as `caller`, into the request's state.

    A request without credentials is not a guess, and does not count towards the bound on failures.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        metrics: AuthenticationMetrics,
        note_failure: NoteFailure | None = None,
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._metrics = metrics
        self._note_failure = note_failure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            found = await self._found(scope)
            if isinstance(found, GatewayError):
                await problem_response(found, scope["path"])(scope, receive, send)
                return
            state = scope.setdefault("state", {})
            state["principal"], state["caller"] = found, found.name
            calling.set(found.name)
        await self._app(scope, receive, send)

    async def _found(self, scope: Scope) -> Principal | GatewayError:
        sent = Sent(
            peer=peer_of(scope.get("client")),
            authorization=Headers(scope=scope).getlist("Authorization"),
            certificate=(scope.get("extensions") or {}).get(EXTENSION),
        )
        try:
            principal = await self._authenticator.principal(sent)
        except CredentialRefused as error:
            return self._refused(error, sent)
        except PartDown as error:
            return error
        self._metrics.accepted(principal.kind)
        return principal

    def _refused(self, error: CredentialRefused, sent: Sent) -> GatewayError:
        answer: GatewayError = error
        if error.reason is not CredentialFault.MISSING:
            answer = self._authenticator.attempts.refused(error, sent.peer, sent.key_id)
        is_throttled = isinstance(answer, TooManyFailures)
        if self._note_failure is not None:
            self._note_failure(sent, error)
        self._metrics.failed(sent.kind, error.reason, is_throttled=is_throttled)
        _log.warning(
            "authentication_failed",
            peer=sent.peer,
            kind=sent.kind,
            code=error.code,
            reason=error.reason.value,
            key_id=sent.key_id,
            is_throttled=is_throttled,
        )
        return answer
