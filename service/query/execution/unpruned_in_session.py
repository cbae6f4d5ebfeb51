"""Whether a query of a session may be pruned as one without a session."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.filters.filter_record import Reason
from service.model.sessions.sessions import SessionUse
from service.session_values.session_settings import changed_settings


def unpruned_in_session(sql: str, session: SessionUse | None, own: Mapping[str, str]) -> Reason | None:
    """Returns why a query runs as it is written; None: its session changes nothing that filters depend on.

    Filters are made and rendered for the gateway's own settings. Names are resolved without temporary views:
    a text that may name one, even within another word, is left as it is.

    >>> from uuid import UUID
    >>> from service.model.sessions.sessions import SessionValues, SessionView
    >>> session = SessionUse(UUID(int=0), SessionValues(views=(SessionView("Top", "SELECT 1"),)))
    >>> [unpruned_in_session(sql, session, {}) for sql in ("SELECT * FROM TOP", "SELECT * FROM t")]
    [<Reason.SESSION_VIEW: 'SESSION_VIEW'>, None]
    """
    if session is None:
        return None
    if changed_settings(session.values.settings, own):
        return Reason.SESSION_SETTING
    text = sql.lower()
    is_named = any(view.name.lower() in text for view in session.values.views)
    return Reason.SESSION_VIEW if is_named else None
