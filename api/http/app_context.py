"""Dependencies of all routes: the edge of this app, and the caller.

They never block, and are `async` for that reason: FastAPI runs plain functions in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers

from api.bootstrap.settings import Settings
from api.http.authentication.console_logins import ConsoleLogins
from api.http.authentication.logins import Logins
from api.http.events.open_streams import OpenStreams
from api.http.gateway_access import GatewayAccess
from api.http.middleware.process_metrics import ProcessMetrics
from api.http.middleware.request_caller import ANONYMOUS
from api.http.middleware.request_log import caller_in
from api.http.problems.http_errors import UnsupportedMediaType
from api.http.waiting import Waiting
from service.audit.audited_statements import ShownStatement, statement_details, without_text
from service.audited import note
from service.model.authentication.principals import NOBODY, Principal
from service.model.policies.decisions import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext:
    """The settings, the gateway's door, the waiting clients, the open streams, and the process's metrics."""

    settings: Settings
    access: GatewayAccess
    waiting: Waiting
    process_metrics: ProcessMetrics
    event_streams: OpenStreams
    logins: Logins
    """Counts and slows down failed logins."""
    console_logins: ConsoleLogins | None = None
    """The logins of users at their issuers. None: there are none."""
    forget_key: Callable[[str], None] = lambda _key_id: None
    """Called with the id of an API key that was changed here."""
    forget_session: Callable[[str], None] = lambda _session_id: None
    """Called with the id of a session that was ended here."""
    shown_statement: ShownStatement = without_text
    """Returns the text that the audit log may have of a statement."""

    def note_statement(self, sql: str) -> None:
        """Notes the statement of the request, for its audit event."""
        note(statement_details(sql, self.shown_statement))


async def app_context_of(request: Request) -> AppContext:
    """Returns the edge of the app that serves this request."""
    app_context: AppContext = request.app.state.app_context
    return app_context


async def caller_of(request: Request) -> str:
    """Returns the caller's name."""
    return caller_in(request.scope) or ANONYMOUS


async def principal_of(request: Request) -> Principal:
    """Returns the principal who sent the request."""
    found: Principal = request.scope.get("state", {}).get("principal", NOBODY)
    return found


async def access_of(request: Request) -> Access:
    """Returns what the principal who sent the request may do, by the policies as they are now."""
    app_context, principal = await app_context_of(request), await principal_of(request)
    return app_context.access.gateway.access_of(principal)


def media_type(request: Request) -> str:
    """Returns the media type of the body, without its parameters."""
    return Headers(scope=request.scope).get("Content-Type", "").split(";")[0].strip().lower()


def is_json(request: Request) -> bool:
    """Whether the content type is JSON."""
    content_type = media_type(request)
    return content_type == "application/json" or content_type.endswith("+json")


async def require_json(request: Request) -> None:
    """Raises UnsupportedMediaType unless the content type is JSON."""
    if not is_json(request):
        raise UnsupportedMediaType


async def gone(request: Request) -> None:
    """Returns when the client hangs up. The request's body has to be read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


CurrentAppContext = Annotated[AppContext, Depends(app_context_of)]
Caller = Annotated[str, Depends(caller_of)]
CallingPrincipal = Annotated[Principal, Depends(principal_of)]
CallersAccess = Annotated[Access, Depends(access_of)]
