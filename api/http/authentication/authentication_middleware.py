"""Admits requests whose caller is known."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.authentication.authenticator import Sent
from api.http.authentication.basic import bearer_for, note_named, takes_password
from api.http.authentication.logins import Logins
from api.http.authentication.long_requests import LongRequest
from api.http.authentication.session_cookie import check_is_own_page, session_text
from api.http.connections.client_certificate import EXTENSION
from api.http.connections.peers import peer_of
from api.http.middleware.request_caller import calling, is_open
from api.http.problems.problems import problem_response
from service.errors.credential_errors import (
    CredentialFault,
    CredentialRefused,
    CrossSiteRequest,
    TooManyFailures,
)
from service.errors.gateway_error import GatewayError, PartDown
from service.model.authentication.principals import Principal
from service.ports.clock import Clock


class Authentication:
    """ASGI middleware: puts `principal`, and its name as `caller`, into the request's state.

    A request that lasts is authenticated again every `every_s`.
    """

    def __init__(self, app: ASGIApp, logins: Logins, clock: Clock, every_s: float, *, has_tls: bool) -> None:
        self._app = app
        self._logins = logins
        self._clock = clock
        self._every_s = every_s
        self._has_tls = has_tls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "http" and not is_open(scope["path"]):
            found = await self._found(scope)
            if isinstance(found, GatewayError):
                await problem_response(found, scope["path"])(scope, receive, send)
                return
            state = scope.setdefault("state", {})
            state["principal"], state["caller"] = found, found.name
            calling.set(found.name)
            if not self._logins.is_open:
                lasting = self._lasting(scope, receive, send, found)
                receive, send = lasting.receive, lasting.send
        await self._app(scope, receive, send)

    def _lasting(self, scope: Scope, receive: Receive, send: Send, first: Principal) -> LongRequest:
        async def check() -> GatewayError | None:
            found = await self._found(scope)
            if isinstance(found, GatewayError):
                return found
            if found.name == first.name:
                return None
            return CredentialRefused("These credentials are now another caller's.", CredentialFault.PRINCIPAL)

        return LongRequest(scope, receive, send, check=check, clock=self._clock, every_s=self._every_s)

    async def _found(self, scope: Scope) -> Principal | GatewayError:
        headers = Headers(scope=scope)
        authorization: Sequence[str] = headers.getlist("Authorization")
        if takes_password(scope["path"]):
            authorization, name = bearer_for(authorization)
            note_named(scope, name)
        sent = Sent(
            peer=peer_of(scope.get("client")),
            authorization=authorization,
            certificate=(scope.get("extensions") or {}).get(EXTENSION),
            session=session_text(headers, has_tls=self._has_tls) if self._logins.takes_sessions else None,
        )
        try:
            if sent.is_by_session:
                check_is_own_page(scope, headers)
            return await self._logins.principal(sent)
        except (CredentialRefused, CrossSiteRequest, TooManyFailures, PartDown) as error:
            return error
