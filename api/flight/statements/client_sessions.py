"""The sessions of clients: made when a client first needs one, and known by its connection or a cookie."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

from api.bootstrap.settings import Settings
from api.flight.calls.identified_callers import SESSION_COOKIE, Callers, Connected
from api.flight.calls.served import Served
from api.flight.statements.statement_shapes import needs_session
from api.sql_protocols.sessions import ProtocolSessions
from service.errors.session_errors import SessionNotFound, SessionSettingRefused
from service.errors.statement_errors import SqlInvalid
from service.model.sessions.sessions import SessionValues
from service.session_values.session_settings import TIME_ZONE, setting_name

CATALOG, SCHEMA = "catalog", "schema"
INVALID_NAME, INVALID_VALUE = 1, 2
"""Why an option is not set, as the specification numbers it."""


class ClientSessions:
    """Finds, changes and ends sessions. Any thread may call any method; each may ask the session store."""

    def __init__(self, sessions: ProtocolSessions, callers: Callers, settings: Settings) -> None:
        self._sessions = sessions
        self._callers = callers
        self._settings = settings

    def for_statement(self, served: Served, sql: str) -> UUID | None:
        """Returns the session that a statement is sent in. One that changes its session gets one."""
        return self._opened(served) if needs_session(sql) else served.known.session_id

    def zone(self, served: Served) -> str:
        """Returns the time zone of the client's session."""
        values = self._values(served)
        return values.settings.get(TIME_ZONE, self._settings.session_time_zone)

    def options(self, served: Served) -> Mapping[str, str]:
        """Returns catalog, schema, and the settings that the client has set."""
        values = self._values(served)
        if values.catalog is None:
            catalog = self._settings.default_catalog
            schema = values.schema or self._settings.default_schema
        else:
            catalog, schema = values.catalog, values.schema
        return {CATALOG: catalog, SCHEMA: schema or ""} | dict(values.settings)

    def set_options(self, served: Served, options: Mapping[str, str | None]) -> Mapping[str, int]:
        """Sets options, and returns for each that was not set, why.

        None asks for the gateway's own value, which a catalog, a schema or a setting cannot get back: that is
        an invalid value.
        """
        session_id = self._opened(served)
        names = {name: value for name, value in options.items() if name in (CATALOG, SCHEMA)}
        faults = {name: INVALID_VALUE for name, value in options.items() if not value}
        if names and not faults.keys() & names:
            try:
                self._sessions.use(served.caller, session_id, names.get(CATALOG), names.get(SCHEMA))
            except SqlInvalid:
                faults |= dict.fromkeys(names, INVALID_VALUE)
        for name, value in options.items():
            if name not in names and value:
                faults |= self._set(served, session_id, name, value)
        return faults

    def close(self, served: Served) -> None:
        """Ends the client's session, if it has one, and forgets the client."""
        session_id = served.known.session_id
        if session_id is not None:
            self._sessions.close(served.caller, session_id)
        self._callers.forget(served.known)

    def _set(self, served: Served, session_id: UUID, name: str, value: str) -> Mapping[str, int]:
        try:
            spelled = setting_name(name)
        except SessionSettingRefused:
            return {name: INVALID_NAME}
        try:
            self._sessions.put_settings(served.caller, session_id, {spelled: value})
        except SessionSettingRefused:
            return {name: INVALID_VALUE}
        return {}

    def _values(self, served: Served) -> SessionValues:
        session_id = served.known.session_id
        if session_id is None:
            return SessionValues()
        return self._sessions.values(served.caller, session_id).values

    def _opened(self, served: Served) -> UUID:
        """Returns the client's session, or a new one, which the answer names."""
        connected = served.known.connected
        if connected is not None:
            with connected.lock:
                if connected.session_id is None:
                    connected.session_id = self._sessions.open(served.caller).session_id
                return connected.session_id
        with suppress(SessionNotFound):
            if served.known.session_id is not None:
                return self._sessions.values(served.caller, served.known.session_id).session_id
        return self._told(served)

    def _told(self, served: Served) -> UUID:
        session_id = self._sessions.open(served.caller).session_id
        # Clients keep one or the other: Java's keep cookies, Go's take a new token.
        served.add_header("set-cookie", f"{SESSION_COOKIE}={session_id}")
        connected = Connected(served.known.secret, served.known.name, session_id)
        served.add_header("authorization", f"Bearer {self._callers.connect(served.caller, connected)}")
        return session_id
