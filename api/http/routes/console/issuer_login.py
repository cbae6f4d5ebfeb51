"""Logs in users of issuers: from the console to the issuer, and back."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.http.app_context import AppContext, CurrentAppContext
from api.http.auditing.audited_login import audited_login
from api.http.authentication.authenticator import Sent, principal_of_issuer
from api.http.authentication.console_logins import CameBack, ConsoleLogins
from api.http.authentication.session_cookie import (
    check_is_own_page,
    login_text,
    set_cookie,
    set_login_cookie,
)
from api.http.connections.peers import peer_of
from api.http.console.refused_login import refused_page
from api.http.problems.http_errors import status_of
from api.http.problems.problems import problem_response
from api.http.schemas.wire import WireModel
from service.audited import note
from service.errors.credential_errors import CredentialRefused, LoginElsewhere, LoginUnknown
from service.errors.gateway_error import GatewayError
from service.model.audit.events import Details
from service.model.authentication.issuer_sessions import LoggedIn, OpenedIssuerSession

router = APIRouter(tags=["console"], include_in_schema=False)

LOGGED_IN = "/console#/back"
"""Where a browser goes on. The fragment is there so that it does not keep that of the issuer's address."""
_HTML = "text/html"


class IssuerToLogIn(WireModel):
    """An issuer whose users may log in."""

    name: str
    title: Annotated[str, Field(description="what the console calls it")]


class WaysToLogIn(WireModel):
    """How users log in here."""

    api_keys: bool
    issuers: list[IssuerToLogIn]


class LoginBegun(WireModel):
    """The issuer's address, which the browser has to open."""

    address: str


@router.get("/console/logins")
async def list_ways(app_context: CurrentAppContext) -> WaysToLogIn:
    """Says how users log in. Everyone may know."""
    settings = app_context.settings
    issuers = [
        IssuerToLogIn(name=name, title=login.title or name)
        for name, login in settings.console_logins.items()
        if app_context.console_logins is not None
    ]
    return WaysToLogIn(api_keys=settings.api_keys, issuers=issuers)


@router.post("/console/login/{issuer}")
async def begin(
    request: Request, response: Response, issuer: str, app_context: CurrentAppContext
) -> LoginBegun:
    """Begins a login. A page of another site cannot, so no login is begun that its user has not asked for."""
    check_is_own_page(request.scope, request.headers)
    logins = _logins(app_context)
    origin = request.headers.get("Origin")
    if origin is not None and origin.lower() != logins.rules.console_url:
        raise LoginElsewhere(f"Open {logins.rules.console_url}/console and log in there.")
    address, login = await logins.begin(issuer, _peer(request))
    response.headers["Set-Cookie"] = set_login_cookie(
        login.text, logins.rules.timeout_s, secure=logins.rules.is_secure
    )
    return LoginBegun(address=address)


@router.get("/console/login/{issuer}/callback")
async def come_back(request: Request, issuer: str, app_context: CurrentAppContext) -> Response:
    """Ends a login: the issuer has led the browser here, with a code. It always goes on to the console."""
    logins = _logins(app_context)
    secure = logins.rules.is_secure
    back = CameBack(*(_one(request, name) for name in ("state", "code", "iss", "error")))
    try:
        login = logins.continued(issuer, login_text(request.headers, secure=secure), back)
    except CredentialRefused as error:
        # The login that the browser has begun goes on: another page may have led it here.
        return _refused(request, app_context, error)
    try:
        user = await logins.finish(login, back, _peer(request))
        opened = await _opened(request, app_context, logins, user)
    except GatewayError as error:
        answer = _refused(request, app_context, error)
    else:
        answer = Response(status_code=303, headers={"Location": LOGGED_IN})
        ends = opened.session.expires_at - logins.clock.now()
        lifetime_s = max(0, math.ceil(ends.total_seconds()))
        answer.headers.append("Set-Cookie", set_cookie(opened.text, lifetime_s, is_secure=secure))
        if secure:
            # One from a page that came without TLS would count as soon as this one is gone.
            answer.headers.append("Set-Cookie", set_cookie("", 0, is_secure=False))
    answer.headers.append("Set-Cookie", set_login_cookie("", 0, secure=secure))
    return answer


async def _opened(
    request: Request, app_context: AppContext, logins: ConsoleLogins, user: LoggedIn
) -> OpenedIssuerSession:
    principal = principal_of_issuer(user)
    state = request.scope.setdefault("state", {})
    state["principal"], state["caller"] = principal, principal.name
    gateway = app_context.access.gateway
    with audited_login(gateway.audit.trail, logins.clock, request.scope):
        opened = await app_context.access.call(gateway.issuer_sessions.open, user)
        note(Details(target=opened.session.session_id))
    app_context.logins.accept(principal)
    return opened


def _refused(request: Request, app_context: AppContext, error: GatewayError) -> Response:
    if isinstance(error, CredentialRefused):
        sent = Sent(_peer(request), (), is_login=True)
        error = app_context.logins.refused(error, sent)
    answer = problem_response(error, request.url.path)
    if _HTML not in request.headers.get("accept", ""):
        return answer
    kept = {
        name: answer.headers[name] for name in ("Retry-After", "WWW-Authenticate") if name in answer.headers
    }
    return Response(refused_page(error.code, error.detail), status_of(error), kept, _HTML)


def _logins(app_context: AppContext) -> ConsoleLogins:
    if app_context.console_logins is None:
        raise LoginUnknown
    return app_context.console_logins


def _one(request: Request, name: str) -> str | None:
    """Returns the field of the address. One that is there twice is empty, which nothing equals."""
    found = request.query_params.getlist(name)
    return found[0] if len(found) == 1 else "" if found else None


def _peer(request: Request) -> str:
    client = request.client
    return peer_of(None if client is None else (client.host, client.port))
