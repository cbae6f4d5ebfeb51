"""Implements the `ApiKeyStore` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    Connection,
    DateTime,
    Engine,
    RowMapping,
    Table,
    Text,
    cast,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from service.adapters.api_keys.key_tables import ApiKeyRow
from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.model.authentication.api_keys import ApiKey

STATEMENT_WITHIN_MS = 2_000
OF_A_PRINCIPAL = 1_000
SILENT_AT_MOST_S = 3.0
"""Short, because requests wait, and cached keys work without the store."""

_CONNECTION = DURABLE | {
    "connect_timeout": 2,
    "options": f"{DURABLE['options']} -c statement_timeout={STATEMENT_WITHIN_MS}",
}
_KEYS: Table = ApiKeyRow.metadata.tables["api_keys"]


class PostgresApiKeys:
    """Keys in a table that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str) -> None:
        self._engine = key_store_engine(url)

    def add(self, key: ApiKey) -> None:
        """See the port's `add`."""
        with self._transaction() as connection:
            connection.execute(insert(ApiKeyRow).values(_values(key)))

    def find(self, key_ids: Collection[str]) -> Mapping[str, ApiKey]:
        """See the port's `find`."""
        wanted = _KEYS.c.key_id == func.any(cast(list(key_ids), ARRAY(Text())))
        with self._transaction() as connection:
            rows = connection.execute(select(_KEYS).where(wanted)).mappings()
            return {row["key_id"]: api_key(row) for row in rows}

    def of_principal(self, name: str) -> Sequence[ApiKey]:
        """See the port's `of_principal`."""
        wanted = _KEYS.c.name == storable(name), _KEYS.c.revoked_at.is_(None)
        order = _KEYS.c.expires_at.desc().nulls_first(), _KEYS.c.key_id
        asked = select(_KEYS).where(*wanted).order_by(*order).limit(OF_A_PRINCIPAL)
        with self._transaction() as connection:
            return [api_key(row) for row in connection.execute(asked).mappings()]

    def newest(self, limit: int) -> Sequence[ApiKey]:
        """See the port's `newest`."""
        order = _KEYS.c.created_at.desc(), _KEYS.c.key_id
        with self._transaction() as connection:
            rows = connection.execute(select(_KEYS).order_by(*order).limit(limit)).mappings()
            return [api_key(row) for row in rows]

    def revoke(self, key_id: str, by: str) -> ApiKey | None:
        """See the port's `revoke`."""
        ends = {"revoked_at": func.clock_timestamp(), "revoked_by": storable(by)}
        is_open = _KEYS.c.key_id == key_id, _KEYS.c.revoked_at.is_(None)
        with self._transaction() as connection:
            connection.execute(update(_KEYS).where(*is_open).values(ends))
        return self.find([key_id]).get(key_id)

    def note_uses(self, uses: Mapping[str, datetime]) -> None:
        """See the port's `note_uses`."""
        ids = cast(list(uses), ARRAY(Text()))
        moments = cast(list(uses.values()), ARRAY(DateTime(timezone=True)))
        used = func.unnest(ids, moments).table_valued("key_id", "used_at").render_derived(name="used")
        is_later = or_(_KEYS.c.last_used_at.is_(None), _KEYS.c.last_used_at < used.c.used_at)
        statement = update(_KEYS).where(_KEYS.c.key_id == used.c.key_id, is_later)
        with self._transaction() as connection:
            connection.execute(statement.values(last_used_at=used.c.used_at))

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with answering(), self._engine.begin() as connection:
            yield connection


def key_store_engine(url: str) -> Engine:
    """Returns the connections of a store that requests wait for while they are authenticated."""
    return store_engine(
        url,
        _CONNECTION,
        silent_at_most_s=SILENT_AT_MOST_S,
        pool_size=2,
        max_overflow=2,
        pool_timeout=3,
    )


def _values(key: ApiKey) -> dict[str, object]:
    return {
        "key_id": key.key_id,
        "secret_sha256": key.secret_sha256,
        "name": storable(key.name),
        "roles": sorted(map(storable, key.roles)),
        "description": storable(key.description),
        "created_at": key.created_at,
        "created_by": storable(key.created_by),
        "expires_at": key.expires_at,
    }


def api_key(row: RowMapping) -> ApiKey:
    """Returns the key in a row of the table."""
    return ApiKey(
        key_id=row["key_id"],
        secret_sha256=bytes(row["secret_sha256"]),
        name=row["name"],
        roles=frozenset(row["roles"]),
        description=row["description"],
        created_at=_utc(row["created_at"]),
        created_by=row["created_by"],
        expires_at=_utc(row["expires_at"]),
        last_used_at=_utc(row["last_used_at"]),
        revoked_at=_utc(row["revoked_at"]),
        revoked_by=row["revoked_by"],
    )


def _utc(moment: Any) -> Any:
    return None if moment is None else moment.astimezone(UTC)
