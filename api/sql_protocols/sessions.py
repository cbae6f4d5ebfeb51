"""The sessions of protocols: a connection's session is one of the gateway's, which any replica serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from api.bootstrap.settings import Settings
from api.sql_protocols.audited_calls import AuditedCalls
from api.sql_protocols.login import ProtocolCaller
from service.errors.session_errors import SessionNotFound
from service.errors.statement_errors import SqlInvalid
from service.gateway import Gateway
from service.model.audit.events import Action
from service.model.sessions.session_changes import PutSettings, UseSchema
from service.model.sessions.sessions import Session, SessionUse

DEFAULT = "default"
"""The schema that clients of Spark and Hive take for granted."""


class ProtocolSessions:
    """Opens, changes and closes sessions. How many there may be, and for how long, the gateway decides.

    Any thread may call any method. Each raises MetricsStoreDown if sessions cannot be read now, and
    SessionNotFound if this caller has no such session.
    """

    def __init__(self, gateway: Callable[[], Gateway], settings: Settings, audited: AuditedCalls) -> None:
        self._gateway = gateway
        self._settings = settings
        self._audited = audited

    def open(
        self,
        caller: ProtocolCaller,
        catalog: str | None = None,
        schema: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Session:
        """Creates a session. Without names, its statements have the operator's catalog and schema.

        Raises:
            SqlInvalid: the caller knows no such catalog or schema.
            SessionSettingRefused: a session may not have a setting, or not this value.
            TooManySessions: there are as many as may be.
        """
        with self._audited.auditing(Action.SESSION_CREATED, caller):
            place = self._place(caller, catalog, schema)
            return self._gateway().sessions.create(caller.name, *place, settings or {})

    def values(self, caller: ProtocolCaller, session_id: UUID) -> SessionUse:
        """Returns the values of a session, which lasts from now on."""
        return self._gateway().sessions.values(session_id, caller.name)

    def put_settings(self, caller: ProtocolCaller, session_id: UUID, settings: Mapping[str, str]) -> Session:
        """Sets settings.

        Raises:
            SessionSettingRefused: a session may not have one, or not this value.
        """
        with self._audited.auditing(Action.SESSION_CHANGED, caller):
            return self._gateway().sessions.change(session_id, caller.name, PutSettings(settings))

    def use(
        self, caller: ProtocolCaller, session_id: UUID, catalog: str | None, schema: str | None
    ) -> Session:
        """Makes a catalog and a schema those of names without one.

        Raises:
            SqlInvalid: the caller knows no such catalog or schema.
        """
        with self._audited.auditing(Action.SESSION_CHANGED, caller):
            before = self.values(caller, session_id).values
            asked = catalog or before.catalog or self._settings.default_catalog
            found = self._place(caller, asked, schema)
            change = UseSchema(found[0] or asked, found[1])
            return self._gateway().sessions.change(session_id, caller.name, change)

    def close(self, caller: ProtocolCaller, session_id: UUID) -> None:
        """Ends a session. Does nothing if it has ended."""
        with self._audited.auditing(Action.SESSION_ENDED, caller):
            try:
                self._gateway().sessions.end(session_id, caller.name)
            except SessionNotFound:
                return

    def _place(
        self, caller: ProtocolCaller, catalog: str | None, schema: str | None
    ) -> tuple[str | None, str | None]:
        """Returns a catalog and a schema that exist. `default` is the operator's if there is no such one."""
        if catalog is None and schema is None:
            return None, None
        asked = catalog or self._settings.default_catalog
        gateway = self._gateway()
        access = gateway.access_of(caller.principal)
        if schema is None:
            if asked not in gateway.browser.catalogs(access):
                raise SqlInvalid(f"There is no catalog {asked}.")
            return asked, None
        known = gateway.browser.schemas(asked, access).schemas
        if any(entry.schema == schema for entry in known):
            return asked, schema
        if schema.lower() == DEFAULT:
            is_own = asked == self._settings.default_catalog
            return asked, self._settings.default_schema if is_own else None
        same = next((entry.schema for entry in known if entry.schema.lower() == schema.lower()), None)
        if same is None:
            raise SqlInvalid(f"There is no schema {asked}.{schema}.")
        return asked, same
