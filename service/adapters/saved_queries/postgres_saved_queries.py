"""Implements the `SavedQueryStore` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Table,
    delete,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.adapters.saved_queries.saved_query_tables import SavedQueryRow
from service.errors.saved_query_errors import SavedQueryChanged, TooManySavedQueries
from service.model.query.history import MAX_SQL_CHARACTERS
from service.model.query.saved_queries import SavedQuery, SavedQueryListing, SavedQueryScope, SavedText

STATEMENT_WITHIN_MS = 2_000
SILENT_AT_MOST_S = 3.0
"""Short, because requests wait."""
# An arbitrary number, for the lock under which saved queries are counted.
_COUNTING = 0x5A_7E
_CONNECTION = DURABLE | {
    "connect_timeout": 2,
    "options": f"{DURABLE['options']} -c statement_timeout={STATEMENT_WITHIN_MS}",
}
_SAVED: Table = SavedQueryRow.metadata.tables["saved_queries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedQueryCounts:
    """How many queries one caller and all callers may save."""

    max_of_caller: int = 500
    max_saved_queries: int = 100_000


class PostgresSavedQueries:
    """Saved queries in a table that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str, counts: SavedQueryCounts = SavedQueryCounts()) -> None:
        self._counts = counts
        self._engine = store_engine(
            url,
            _CONNECTION,
            silent_at_most_s=SILENT_AT_MOST_S,
            pool_size=2,
            max_overflow=4,
            pool_timeout=3,
        )

    def add(self, owner: str, text: SavedText) -> SavedQuery:
        """See the port's `add`."""
        row = _values(text) | {
            "saved_query_id": uuid4(),
            "owner": storable(owner),
            "version": 1,
            "created_at": func.clock_timestamp(),
            "changed_at": func.clock_timestamp(),
        }
        with self._transaction() as connection:
            # Otherwise two replicas would count the same rows, and both add one.
            connection.execute(select(func.pg_advisory_xact_lock(_COUNTING)))
            self._check_counts(connection, storable(owner))
            added = connection.execute(insert(SavedQueryRow).values(row).returning(*_SAVED.c))
            return _saved_query(added.mappings().one())

    def find(self, saved_query_id: UUID, caller: str) -> SavedQuery | None:
        """See the port's `find`."""
        wanted = _SAVED.c.saved_query_id == saved_query_id, _is_readable(caller, SavedQueryScope.ALL)
        with self._transaction() as connection:
            row = connection.execute(select(_SAVED).where(*wanted)).mappings().one_or_none()
            return None if row is None else _saved_query(row)

    def list(self, listing: SavedQueryListing) -> Sequence[SavedQuery]:
        """See the port's `list`."""
        with self._transaction() as connection:
            return [_saved_query(row) for row in connection.execute(_listed(listing)).mappings()]

    def replace(
        self, saved_query_id: UUID, owner: str, expected_version: int, text: SavedText
    ) -> SavedQuery | None:
        """See the port's `replace`."""
        values = _values(text) | {"version": expected_version + 1, "changed_at": func.clock_timestamp()}
        with self._transaction() as connection:
            if not _is_there(connection, saved_query_id, owner, expected_version):
                return None
            named = _SAVED.c.saved_query_id == saved_query_id
            changed = connection.execute(update(_SAVED).where(named).values(values).returning(*_SAVED.c))
            return _saved_query(changed.mappings().one())

    def remove(self, saved_query_id: UUID, owner: str, expected_version: int | None) -> bool:
        """See the port's `remove`."""
        with self._transaction() as connection:
            if not _is_there(connection, saved_query_id, owner, expected_version):
                return False
            connection.execute(delete(_SAVED).where(_SAVED.c.saved_query_id == saved_query_id))
            return True

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def _check_counts(self, connection: Connection, owner: str) -> None:
        counted = select(func.count(), func.count().filter(_SAVED.c.owner == owner)).select_from(_SAVED)
        of_all, of_owner = connection.execute(counted).one()
        if of_owner >= self._counts.max_of_caller:
            raise TooManySavedQueries(
                f"You have saved {of_owner} queries, as many as a caller may. Delete some."
            )
        if of_all >= self._counts.max_saved_queries:
            raise TooManySavedQueries

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with answering(), self._engine.begin() as connection:
            yield connection


def _is_there(connection: Connection, saved_query_id: UUID, owner: str, expected_version: int | None) -> bool:
    """Whether the owner has the query, which no other transaction changes until this one ends."""
    own = _SAVED.c.saved_query_id == saved_query_id, _SAVED.c.owner == storable(owner)
    locked = select(_SAVED.c.version).where(*own).with_for_update()
    version = connection.execute(locked).scalar_one_or_none()
    if version is not None and expected_version not in (None, version):
        raise SavedQueryChanged
    return version is not None


def _is_readable(caller: str, scope: SavedQueryScope) -> ColumnElement[bool]:
    is_own = _SAVED.c.owner == storable(caller)
    match scope:
        case SavedQueryScope.OWN:
            return is_own
        case SavedQueryScope.OTHERS:
            return _SAVED.c.is_shared & ~is_own
        case SavedQueryScope.ALL:
            return or_(is_own, _SAVED.c.is_shared)


def _listed(listing: SavedQueryListing) -> Select[tuple[object, ...]]:
    columns = [column for column in _SAVED.c if column.name != "sql"]
    # The texts of a long list would be large.
    shown = select(func.left(_SAVED.c.sql, MAX_SQL_CHARACTERS).label("sql"), *columns)
    wanted = [_is_readable(listing.caller, listing.scope)]
    if listing.name:
        sought = func.lower(storable(listing.name))
        wanted.append(func.strpos(func.lower(_SAVED.c.name), sought) > 0)
    place = tuple_(_SAVED.c.changed_at, _SAVED.c.saved_query_id)
    if listing.before is not None:
        before = listing.before
        wanted.append(place < tuple_(before.changed_at, before.saved_query_id))
    order = _SAVED.c.changed_at.desc(), _SAVED.c.saved_query_id.desc()
    return shown.where(*wanted).order_by(*order).limit(listing.limit)


def _values(text: SavedText) -> dict[str, Any]:
    return {
        "name": storable(text.name),
        "sql": storable(text.sql),
        "catalog": text.catalog and storable(text.catalog),
        "schema": text.schema and storable(text.schema),
        "is_shared": text.is_shared,
    }


def _saved_query(row: RowMapping) -> SavedQuery:
    return SavedQuery(
        saved_query_id=row["saved_query_id"],
        owner=row["owner"],
        text=SavedText(
            name=row["name"],
            sql=row["sql"],
            catalog=row["catalog"],
            schema=row["schema"],
            is_shared=row["is_shared"],
        ),
        version=row["version"],
        created_at=row["created_at"].astimezone(UTC),
        changed_at=row["changed_at"].astimezone(UTC),
    )
