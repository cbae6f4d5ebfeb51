"""The session that a request names."""

from __future__ import annotations

from uuid import UUID

from api.http.app_context import AppContext
from service.model.sessions.sessions import SessionUse


async def session_of(app_context: AppContext, session_id: UUID | None, caller: str) -> SessionUse | None:
    """Returns the values of the caller's session at this moment; None: the request names no session.

    Raises:
        SessionNotFound: this caller has no such session.
        MetricsStoreDown: sessions cannot be read now.
    """
    if session_id is None:
        return None
    return await app_context.access.call(app_context.access.gateway.sessions.values, session_id, caller)
