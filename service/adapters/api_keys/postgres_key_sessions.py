"""Implements the `KeySessionStore` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import ARRAY, Connection, Select, Table, Text, cast, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from service.adapters.api_keys.key_session_tables import KeySessionRow
from service.adapters.api_keys.key_tables import ApiKeyRow
from service.adapters.api_keys.postgres_api_keys import api_key, key_store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.model.authentication.api_keys import ApiKey
from service.model.authentication.key_sessions import KeySession

_SESSIONS: Table = KeySessionRow.metadata.tables["key_sessions"]
_KEYS: Table = ApiKeyRow.metadata.tables["api_keys"]


class PostgresKeySessions:
    """Sessions in a table that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str) -> None:
        self._engine = key_store_engine(url)

    def add(self, session: KeySession, at_most: int) -> None:
        """See the port's `add`."""
        with answering(), self._engine.begin() as connection:
            connection.execute(delete(_SESSIONS).where(_SESSIONS.c.expires_at <= session.created_at))
            connection.execute(insert(KeySessionRow).values(_values(session)))
            _end_oldest(connection, session.key_id, at_most)

    def find(self, session_ids: Collection[str]) -> Mapping[str, ApiKey]:
        """See the port's `find`."""
        with answering(), self._engine.begin() as connection:
            rows = connection.execute(_asked(session_ids)).mappings()
            return {row["session_id"]: api_key(row) for row in rows}

    def end(self, session_id: str) -> None:
        """See the port's `end`."""
        with answering(), self._engine.begin() as connection:
            connection.execute(delete(_SESSIONS).where(_SESSIONS.c.session_id == session_id))

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def _asked(session_ids: Collection[str]) -> Select[tuple[object, ...]]:
    kept = [column for column in _KEYS.c if column.name not in ("secret_sha256", "expires_at")]
    # LEAST ignores NULL: a key that does not expire leaves the session's own end.
    ends = func.least(_SESSIONS.c.expires_at, _KEYS.c.expires_at).label("expires_at")
    wanted = _SESSIONS.c.session_id == func.any(cast(list(session_ids), ARRAY(Text())))
    joined = _SESSIONS.join(_KEYS, _SESSIONS.c.key_id == _KEYS.c.key_id)
    return (
        select(_SESSIONS.c.session_id, _SESSIONS.c.secret_sha256, ends, *kept)
        .select_from(joined)
        .where(wanted)
    )


def _end_oldest(connection: Connection, key_id: str, at_most: int) -> None:
    newest = (
        select(_SESSIONS.c.session_id)
        .where(_SESSIONS.c.key_id == key_id)
        .order_by(_SESSIONS.c.created_at.desc(), _SESSIONS.c.session_id)
        .offset(at_most)
    )
    connection.execute(delete(_SESSIONS).where(_SESSIONS.c.session_id.in_(newest)))


def _values(session: KeySession) -> dict[str, object]:
    return {
        "session_id": session.session_id,
        "secret_sha256": session.secret_sha256,
        "key_id": session.key_id,
        "created_at": session.created_at,
        "expires_at": session.expires_at,
    }
