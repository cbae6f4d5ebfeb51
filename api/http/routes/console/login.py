"""Who is logged in to the console, and how that begins and ends."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field
from starlette.datastructures import Headers

from api.http.app_context import AppContext, CallingPrincipal, CurrentAppContext
from api.http.authentication.session_cookie import (
    check_is_own_page,
    is_secure,
    session_text,
    set_cookie,
)
from api.http.routes.console.session_rights import Right, rights_of
from api.http.schemas.wire import WireModel
from service.audited import note
from service.authentication.key_sessions import KeySessions
from service.errors.credential_errors import LoginNeedsKey
from service.model.audit.events import Details
from service.model.authentication.issuer_sessions import is_of_issuer, sent_session
from service.model.authentication.principals import Principal, PrincipalKind

router = APIRouter(tags=["console"], include_in_schema=False)


class LoginAnswer(WireModel):
    """Who calls. Without authentication, everyone is `anonymous`."""

    principal: str
    has_login: Annotated[bool, Field(description="false: nobody has to log in, and nobody can log out")]
    expires_at: Annotated[datetime | None, Field(description="null: this request did not begin the session")]
    rights: Annotated[list[Right], Field(description="what the caller may use beside the rooms of everyone")]


@router.get("/console/session")
async def show_session(app_context: CurrentAppContext, principal: CallingPrincipal) -> LoginAnswer:
    """Says who is logged in. A request without a session is refused, as any other is."""
    return _answer(app_context, principal, None)


@router.post("/console/session")
async def log_in(
    request: Request, response: Response, app_context: CurrentAppContext, principal: CallingPrincipal
) -> LoginAnswer:
    """Exchanges an API key, sent as a bearer token, for a session in a cookie."""
    check_is_own_page(request.scope, request.headers)
    if not app_context.settings.has_authentication:
        return _answer(app_context, principal, None)
    # A session cannot open another one: it would never end.
    if principal.kind is not PrincipalKind.KEY or principal.key_id is None or not _is_by_key(request):
        raise LoginNeedsKey
    opened = await app_context.access.call(_sessions(app_context).open, principal.key_id)
    note(Details(target=opened.session.session_id))
    lifetime_s = app_context.settings.console_session_s
    _give(request, response, app_context, opened.text, lifetime_s)
    return _answer(app_context, principal, opened.session.expires_at)


@router.delete("/console/session", status_code=204)
async def log_out(request: Request, response: Response, app_context: CurrentAppContext) -> None:
    """Ends the session: at this replica at once, at all others within `api_key_cache_ttl_s`."""
    settings = app_context.settings
    text = session_text(request.headers, has_tls=settings.has_tls) or ""
    session = sent_session(text)
    is_taken = app_context.console_logins is not None if is_of_issuer(text) else settings.api_keys
    # Beside another credential, nobody has checked the cookie.
    if session is not None and is_taken and not _is_by_key(request):
        note(Details(target=session.key_id))
        gateway = app_context.access.gateway
        sessions = gateway.issuer_sessions if is_of_issuer(text) else gateway.api_keys.sessions
        await app_context.access.call(sessions.end, session.key_id)
        app_context.forget_session(session.key_id)
    _give(request, response, app_context, "", 0)


def _give(request: Request, response: Response, app_context: AppContext, text: str, lifetime_s: int) -> None:
    secure = is_secure(request.headers, has_tls=app_context.settings.has_tls)
    response.headers["Set-Cookie"] = set_cookie(text, lifetime_s, is_secure=secure)
    if secure:
        # One from a page that came without TLS would count as soon as this one is gone.
        response.headers.append("Set-Cookie", set_cookie("", 0, is_secure=False))


def _sessions(app_context: AppContext) -> KeySessions:
    return app_context.access.gateway.api_keys.sessions


def _is_by_key(request: Request) -> bool:
    headers: Headers = request.headers
    return "Authorization" in headers


def _answer(app_context: AppContext, principal: Principal, expires_at: datetime | None) -> LoginAnswer:
    return LoginAnswer(
        principal=principal.name,
        has_login=app_context.settings.has_authentication,
        expires_at=expires_at,
        rights=rights_of(app_context, principal),
    )
