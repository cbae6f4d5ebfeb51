"""The bodies and answers of sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from api.bootstrap.spelling import NO_NUL
from api.http.schemas.queries.query_request import Identifier, SqlText
from api.http.schemas.wire import StrictModel, WireModel
from service.model.sessions.sessions import Session
from service.session_values.session_settings import TIME_ZONE

SettingName = Annotated[str, StringConstraints(min_length=1, max_length=255), NO_NUL]
SettingValue = Annotated[str, StringConstraints(max_length=255), NO_NUL]


class SessionBody(StrictModel):
    """A new session. Everything has a default."""

    catalog: Annotated[Identifier | None, Field(description="for names without a catalog")] = None
    schema_: Annotated[Identifier | None, Field(alias="schema", description="for names without a schema")] = (
        None
    )
    time_zone: Annotated[
        SettingValue | None, Field(description="a region or an offset; the same as its setting of the engine")
    ] = None
    settings: Annotated[
        dict[SettingName, SettingValue],
        Field(max_length=32, description="settings of the engine that a session may have, by name"),
    ] = Field(default_factory=dict)

    def all_settings(self) -> dict[str, str]:
        """Returns the settings, with the time zone."""
        return self.settings if self.time_zone is None else {**self.settings, TIME_ZONE: self.time_zone}


class ViewBody(StrictModel):
    """A temporary view."""

    sql: Annotated[SqlText, Field(description="one query, without parameters")]


class SessionViewAnswer(WireModel):
    """A temporary view of a session, with the catalog and schema of names in its text."""

    name: str
    sql: str
    catalog: str | None
    schema_: Annotated[str | None, Field(alias="schema")]


class SessionAnswer(WireModel):
    """A session. It ends at `expiresAt` unless it is used before."""

    session_id: UUID
    catalog: str | None
    schema_: Annotated[str | None, Field(alias="schema")]
    time_zone: str | None
    settings: dict[str, str]
    views: Annotated[list[SessionViewAnswer], Field(description="in order of creation")]
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


def session_answer(session: Session) -> SessionAnswer:
    """Returns the session as it is on the wire."""
    values = session.values
    return SessionAnswer(
        session_id=session.session_id,
        catalog=values.catalog,
        schema_=values.schema,
        time_zone=values.settings.get(TIME_ZONE),
        settings=dict(values.settings),
        views=[
            SessionViewAnswer(name=view.name, sql=view.sql, catalog=view.catalog, schema_=view.schema)
            for view in values.views
        ],
        created_at=session.created_at,
        last_used_at=session.last_used_at,
        expires_at=session.expires_at,
    )
