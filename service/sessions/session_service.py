"""Everything that callers may ask for about their sessions."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from service.errors.session_errors import SessionNotFound
from service.model.sessions.session_changes import DropView, PutSettings, PutView, SessionChange, ValueBounds
from service.model.sessions.sessions import Session, SessionUse, SessionValues, SessionView
from service.ports.stores.session_store import SessionStore
from service.session_values.changed import changed


class SessionService:
    """Creates, reads, changes and ends sessions. A session belongs to its caller: others do not find it.

    Each method raises MetricsStoreDown if the store does not answer. Any thread may call any method.
    """

    def __init__(self, store: SessionStore, bounds: ValueBounds) -> None:
        self._store = store
        self._bounds = bounds

    def create(
        self, caller: str, catalog: str | None, schema: str | None, settings: Mapping[str, str]
    ) -> Session:
        """Creates a session with these values.

        Raises:
            SessionSettingRefused: a session may not have a setting, or not this value.
            SessionTooLarge: its values take too many bytes.
            TooManySessions: the caller has as many as it may have, or all callers have together.
        """
        values = changed(SessionValues(catalog, schema), PutSettings(settings), self._bounds)
        return self._store.add(caller, values)

    def use(self, session_id: UUID, caller: str) -> Session:
        """Returns a session. It lasts from now on.

        Raises:
            SessionNotFound: this caller has no such session.
        """
        found = self._store.use(session_id, caller)
        if found is None:
            raise SessionNotFound
        return found

    def values(self, session_id: UUID, caller: str) -> SessionUse:
        """Returns the values of a session for a query that is sent in it.

        Raises:
            SessionNotFound: this caller has no such session.
        """
        return SessionUse(session_id, self.use(session_id, caller).values)

    def change(self, session_id: UUID, caller: str, change: SessionChange) -> Session:
        """Changes the session, and returns it.

        Raises:
            SessionNotFound: this caller has no such session.
            SessionSettingRefused, SessionTooLarge, SessionViewNotFound, SqlInvalid: it may not be so.
        """
        found = self._store.change(session_id, caller, lambda values: changed(values, change, self._bounds))
        if found is None:
            raise SessionNotFound
        return found

    def put_view(self, session_id: UUID, caller: str, view: SessionView) -> Session:
        """Adds a temporary view, or replaces the one of its name.

        Raises:
            SessionNotFound: this caller has no such session.
            SessionTooLarge: the session would have too many views or bytes.
            SqlInvalid: the name is not one.
        """
        return self.change(session_id, caller, PutView(view))

    def drop_view(self, session_id: UUID, caller: str, name: str) -> Session:
        """Removes a temporary view.

        Raises:
            SessionNotFound: this caller has no such session.
            SessionViewNotFound: it has no view of this name.
        """
        return self.change(session_id, caller, DropView(name))

    def end(self, session_id: UUID, caller: str) -> None:
        """Ends a session.

        Raises:
            SessionNotFound: this caller has no such session.
        """
        if not self._store.remove(session_id, caller):
            raise SessionNotFound
