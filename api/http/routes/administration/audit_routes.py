"""The audit log, for administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from api.http.answers.cut_off import cut_off_at_failure
from api.http.app_context import AppContext, CallingPrincipal, CurrentAppContext
from api.http.routes.documented import problems, success
from api.http.schemas.administration.audit_schemas import PAGE, AuditQuery, selection_of
from service.audit.event_lines import entry_line
from service.errors.policy_errors import AdminRequired
from service.model.audit.events import AuditEntry, AuditSelection
from service.model.authentication.principals import Admins

router = APIRouter(tags=["audit"])
MEDIA_TYPE = "application/x-ndjson"


@router.get(
    "/audit",
    responses=success(
        {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}, "description": "One event a line."}
    )
    | problems(403, 422, 503),
    response_class=StreamingResponse,
)
async def read_audit_log(
    asked: Annotated[AuditQuery, Query()], app_context: CurrentAppContext, principal: CallingPrincipal
) -> Response:
    """Returns audit events as NDJSON, in the order in which they were stored.

    An answer with `limit` lines may not be the last: send the request again with `after`, the `position` of
    the last line. No event is stored later at an earlier position.
    """
    if not Admins(frozenset(app_context.settings.admins)).has(principal):
        raise AdminRequired("Only administrators may read the audit log.")
    selection = selection_of(asked)
    # The first page is read before the answer begins, so that its failure is a problem.
    first = await _page(app_context, selection, asked.limit)
    lines = _lines(app_context, selection, first, asked.limit)
    return StreamingResponse(
        cut_off_at_failure(lines), media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"}
    )


async def _page(app_context: AppContext, selection: AuditSelection, left: int) -> Sequence[AuditEntry]:
    audit = app_context.access.gateway.audit
    return await app_context.access.call(audit.entries, replace(selection, limit=min(PAGE, left)))


async def _lines(
    app_context: AppContext, selection: AuditSelection, page: Sequence[AuditEntry], left: int
) -> AsyncIterator[str]:
    while page:
        yield "".join(map(entry_line, page))
        left -= len(page)
        if left <= 0 or len(page) < PAGE:
            return
        page = await _page(app_context, replace(selection, after=page[-1].position), left)
