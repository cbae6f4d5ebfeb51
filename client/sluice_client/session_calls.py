"""Creates, reads and ends sessions at the gateway."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict
from uuid import UUID

from sluice_client.calls import Flow, JsonBody, Request
from sluice_client.errors import DataNotSupported, SessionExpired, UnexpectedAnswer
from sluice_client.json_fields import Fields, fields_of
from sluice_client.retries import Context, retried


class SessionOptions(TypedDict, total=False):
    """The values that a session begins with. Others are the connection's, or the gateway's."""

    catalog: str
    """For names without a catalog."""
    schema: str
    """For names without a schema."""
    time_zone: str
    """A region such as `Europe/Berlin`, or an offset such as `+02:00`."""
    settings: Mapping[str, str]
    """Settings of the engine that a session may have, by name."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """A temporary view of a session, with the catalog and schema of names in its text."""

    name: str
    sql: str
    catalog: str | None
    schema: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A session's values, as they were when the gateway answered."""

    session_id: UUID
    catalog: str | None
    schema: str | None
    time_zone: str | None
    settings: Mapping[str, str]
    views: tuple[SessionView, ...]
    expires_at: datetime
    """When it ends, unless it is used before."""


def create_session(options: SessionOptions, context: Context) -> Flow[SessionState]:
    """Creates a session.

    Raises:
        DataNotSupported: the values cannot be sent.
        RequestInvalid: a session may not have one of these values.
        TooBusy: there are as many sessions as the gateway allows.
    """
    names = {"catalog": "catalog", "schema": "schema", "time_zone": "timeZone"}
    values: dict[str, object] = {names[name]: options[name] for name in names if options.get(name)}  # type: ignore[literal-required]
    settings = options.get("settings")
    if settings:
        values["settings"] = dict(settings)
    try:
        body = JsonBody(json.dumps(values, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise DataNotSupported(f"the session cannot be sent as JSON: {error}") from None
    request = Request(
        method="POST",
        path="/sessions",
        body=body,
        max_bytes=context.bounds.max_answer_bytes,
        # A second request makes a second session.
        is_repeatable=False,
    )
    return _state(fields_of((yield from retried(request, context))))


def get_session(session_id: UUID, context: Context) -> Flow[SessionState]:
    """Returns a session's values. This uses it, so it lasts from now on.

    Raises:
        SessionExpired: it is not there any more.
    """
    request = Request(method="GET", path=f"/sessions/{session_id}", max_bytes=context.bounds.max_answer_bytes)
    return _state(fields_of((yield from retried(request, context))))


def end_session(session_id: UUID, context: Context) -> Flow[None]:
    """Ends a session. Its queries go on. Ending it twice is fine."""
    request = Request(
        method="DELETE",
        path=f"/sessions/{session_id}",
        max_bytes=context.bounds.max_answer_bytes,
        answer_s=context.timeouts.cancel_s,
    )
    with suppress(SessionExpired):
        yield from retried(request, context)


def _state(fields: Fields) -> SessionState:
    settings = fields.object("settings").raw()
    try:
        expires_at = datetime.fromisoformat(fields.text("expiresAt"))
    except ValueError:
        raise UnexpectedAnswer("expiresAt of the session is not a moment") from None
    return SessionState(
        session_id=fields.uuid("sessionId"),
        catalog=fields.optional_text("catalog"),
        schema=fields.optional_text("schema"),
        time_zone=fields.optional_text("timeZone"),
        settings={name: value for name, value in settings.items() if isinstance(value, str)},
        views=tuple(map(_view, fields.objects("views"))),
        expires_at=expires_at,
    )


def _view(fields: Fields) -> SessionView:
    catalog, schema = fields.optional_text("catalog"), fields.optional_text("schema")
    return SessionView(fields.text("name"), fields.text("sql"), catalog, schema)
