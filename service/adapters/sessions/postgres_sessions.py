"""Implements the `SessionStore` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.adapters.sessions.session_json import values_json, values_of
from service.adapters.sessions.session_tables import SessionRow
from service.errors.session_errors import TooManySessions
from service.model.sessions.sessions import Session, SessionValues
from service.ports.stores.session_store import DEFAULT_TIME_TO_LIVE

STATEMENT_WITHIN_MS = 2_000
SILENT_AT_MOST_S = 3.0
"""Short, because requests wait."""
# An arbitrary number, for the lock under which sessions are counted.
_COUNTING = 0x5E_55
_CONNECTION = DURABLE | {
    "connect_timeout": 2,
    "options": f"{DURABLE['options']} -c statement_timeout={STATEMENT_WITHIN_MS}",
}
_SESSIONS: Table = SessionRow.metadata.tables["sessions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBounds:
    """How many sessions one caller and all callers may have, and how long one lasts without being used."""

    max_of_caller: int = 100
    max_sessions: int = 10_000
    time_to_live: timedelta = DEFAULT_TIME_TO_LIVE


class PostgresSessions:
    """Sessions in a table that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str, bounds: SessionBounds = SessionBounds()) -> None:
        self._bounds = bounds
        self._engine = store_engine(
            url,
            _CONNECTION,
            silent_at_most_s=SILENT_AT_MOST_S,
            pool_size=2,
            max_overflow=6,
            pool_timeout=3,
        )

    def add(self, caller: str, values: SessionValues) -> Session:
        """See the port's `add`."""
        row = {
            "session_id": uuid4(),
            "caller": storable(caller),
            "session_values": values_json(values),
            "created_at": func.clock_timestamp(),
            "last_used_at": func.clock_timestamp(),
        }
        with self._transaction() as connection:
            # Otherwise two replicas would count the same sessions, and both add one.
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _COUNTING})
            self._check_counts(connection, storable(caller))
            added = (
                connection.execute(insert(SessionRow).values(row).returning(*_SESSIONS.c)).mappings().one()
            )
            return self._session(added)

    def use(self, session_id: UUID, caller: str) -> Session | None:
        """See the port's `use`."""
        return self._updated(session_id, caller, {"last_used_at": func.clock_timestamp()})

    def change(
        self, session_id: UUID, caller: str, change: Callable[[SessionValues], SessionValues]
    ) -> Session | None:
        """See the port's `change`."""
        asked = select(_SESSIONS.c.session_values).where(*self._is_own(session_id, caller)).with_for_update()
        with self._transaction() as connection:
            found = connection.execute(asked).scalar_one_or_none()
            if found is None:
                return None
            values = {
                "session_values": values_json(change(values_of(found))),
                "last_used_at": func.clock_timestamp(),
            }
            return self._update(connection, session_id, caller, values)

    def remove(self, session_id: UUID, caller: str) -> bool:
        """See the port's `remove`."""
        with self._transaction() as connection:
            removed = connection.execute(delete(_SESSIONS).where(*self._is_own(session_id, caller)))
            return removed.rowcount > 0

    def forget_unused(self) -> int:
        """See the port's `forget_unused`."""
        with self._transaction() as connection:
            return connection.execute(delete(_SESSIONS).where(~self._is_alive)).rowcount

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @property
    def _is_alive(self) -> ColumnElement[bool]:
        return _SESSIONS.c.last_used_at > func.clock_timestamp() - self._bounds.time_to_live

    def _is_own(self, session_id: UUID, caller: str) -> tuple[ColumnElement[bool], ...]:
        is_named = _SESSIONS.c.session_id == session_id
        return is_named, _SESSIONS.c.caller == storable(caller), self._is_alive

    def _check_counts(self, connection: Connection, caller: str) -> None:
        counted = select(func.count(), func.count().filter(_SESSIONS.c.caller == caller)).where(
            self._is_alive
        )
        of_all, of_caller = connection.execute(counted).one()
        if of_caller >= self._bounds.max_of_caller:
            raise TooManySessions(f"You have {of_caller} sessions, as many as a caller may have. End some.")
        if of_all >= self._bounds.max_sessions:
            raise TooManySessions

    def _updated(self, session_id: UUID, caller: str, values: dict[str, Any]) -> Session | None:
        with self._transaction() as connection:
            return self._update(connection, session_id, caller, values)

    def _update(
        self, connection: Connection, session_id: UUID, caller: str, values: dict[str, Any]
    ) -> Session | None:
        changed = update(_SESSIONS).where(*self._is_own(session_id, caller)).values(values)
        row = connection.execute(changed.returning(*_SESSIONS.c)).mappings().one_or_none()
        return None if row is None else self._session(row)

    def _session(self, row: RowMapping) -> Session:
        used_at = row["last_used_at"].astimezone(UTC)
        return Session(
            row["session_id"],
            row["caller"],
            values_of(row["session_values"]),
            row["created_at"].astimezone(UTC),
            used_at,
            used_at + self._bounds.time_to_live,
        )

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with answering(), self._engine.begin() as connection:
            yield connection
