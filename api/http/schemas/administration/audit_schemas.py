"""The query string of GET /audit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.sent_moments import Moment
from api.http.schemas.wire import StrictModel
from service.model.audit.events import Action, AuditSelection

PAGE = 500
"""How many events are read at once."""


class AuditQuery(StrictModel):
    """The query string of GET /audit."""

    since: Annotated[
        Moment | None, Field(strict=False, description="only events stored at this time or later")
    ] = None
    until: Annotated[
        Moment | None, Field(strict=False, description="only events stored before this time")
    ] = None
    after: Annotated[
        int, Field(strict=False, ge=0, lt=2**63, description="only events after this `position`")
    ] = 0
    principal: Annotated[str | None, Field(max_length=255, description="only this principal's")] = None
    action: Annotated[Action | None, Field(strict=False, description="only these actions")] = None
    limit: Annotated[int, Field(strict=False, ge=1, le=100_000, description="maximum number of events")] = (
        1_000
    )


def selection_of(asked: AuditQuery) -> AuditSelection:
    """Returns the request in the terms of the service, for its first page."""
    return AuditSelection(
        after=asked.after,
        since=asked.since,
        until=asked.until,
        principal=asked.principal,
        action=asked.action,
    )
