"""Implements the `IssuerSessionStore` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC

from sqlalchemy import ARRAY, Connection, RowMapping, Table, Text, cast, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from service.adapters.api_keys.issuer_session_tables import IssuerSessionRow
from service.adapters.api_keys.postgres_api_keys import key_store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.model.authentication.issuer_sessions import IssuerSession, LoggedIn

_SESSIONS: Table = IssuerSessionRow.metadata.tables["issuer_sessions"]


class PostgresIssuerSessions:
    """Sessions in a table that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str) -> None:
        self._engine = key_store_engine(url)

    def add(self, session: IssuerSession, at_most: int) -> None:
        """See the port's `add`."""
        with answering(), self._engine.begin() as connection:
            connection.execute(delete(_SESSIONS).where(_SESSIONS.c.expires_at <= session.created_at))
            connection.execute(insert(IssuerSessionRow).values(_values(session)))
            _end_oldest(connection, storable(session.user.name), at_most)

    def find(self, session_ids: Collection[str]) -> Mapping[str, IssuerSession]:
        """See the port's `find`."""
        wanted = _SESSIONS.c.session_id == func.any(cast(list(session_ids), ARRAY(Text())))
        with answering(), self._engine.begin() as connection:
            rows = connection.execute(select(_SESSIONS).where(wanted)).mappings()
            return {row["session_id"]: _session(row) for row in rows}

    def end(self, session_id: str) -> None:
        """See the port's `end`."""
        with answering(), self._engine.begin() as connection:
            connection.execute(delete(_SESSIONS).where(_SESSIONS.c.session_id == session_id))

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def _end_oldest(connection: Connection, name: str, at_most: int) -> None:
    newest = (
        select(_SESSIONS.c.session_id)
        .where(_SESSIONS.c.name == name)
        .order_by(_SESSIONS.c.created_at.desc(), _SESSIONS.c.session_id)
        .offset(at_most)
    )
    connection.execute(delete(_SESSIONS).where(_SESSIONS.c.session_id.in_(newest)))


def _values(session: IssuerSession) -> dict[str, object]:
    user = session.user
    return {
        "session_id": session.session_id,
        "secret_sha256": session.secret_sha256,
        "issuer": user.issuer,
        "issuer_url": user.issuer_url,
        "subject": storable(user.subject),
        "name": storable(user.name),
        "roles": [storable(role) for role in sorted(user.roles)],
        "user_until": user.until,
        "created_at": session.created_at,
        "expires_at": session.expires_at,
    }


def _session(row: RowMapping) -> IssuerSession:
    user = LoggedIn(
        row["issuer"],
        row["issuer_url"],
        row["subject"],
        row["name"],
        frozenset(row["roles"]),
        row["user_until"].astimezone(UTC),
    )
    created, expires = row["created_at"].astimezone(UTC), row["expires_at"].astimezone(UTC)
    return IssuerSession(row["session_id"], bytes(row["secret_sha256"]), user, created, expires)
