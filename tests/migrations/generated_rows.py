"""Generates a row for each table from the schema itself, as the version of that schema may write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Uuid,
    insert,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
VALUES: Sequence[tuple[type[TypeEngine[Any]], object]] = (
    (JSONB, [{"record_count": 2, "byte_count": 5, "name": "some name"}]),
    (Text, "some text"),
    (Boolean, True),
    (BigInteger, 7),
    (DateTime, MOMENT),
    (LargeBinary, b"some bytes"),
)
Rows = Mapping[str, list[dict[str, Any]]]


def schema_of(connection: Connection) -> MetaData:
    """Returns the existing tables, except Alembic's own."""
    found = MetaData()
    found.reflect(connection, only=lambda name, _: name != "alembic_version")
    return found


def fill(connection: Connection, schema: MetaData) -> None:
    """Inserts a row into each table, parents first, with a value for each column that accepts one."""
    ids: dict[str, object] = {}
    for table in schema.sorted_tables:
        row = {column.name: _value(column, ids) for column in table.columns if not _is_generated(column)}
        for column in table.primary_key.columns:
            if column.name in row:
                ids[f"{table.name}.{column.name}"] = row[column.name]
        connection.execute(insert(table), row)


def rows(connection: Connection, schema: MetaData) -> Rows:
    """Returns the contents of these tables, only in their columns, sorted."""
    return {table.name: _rows(connection, table) for table in schema.sorted_tables}


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    found = [dict(row._mapping) for row in connection.execute(select(*table.columns))]
    return sorted(found, key=str)


def _is_generated(column: Column[Any]) -> bool:
    return column.identity is not None or column.autoincrement is True


def _value(column: Column[Any], ids: Mapping[str, object]) -> object:
    for key in column.foreign_keys:
        return ids[key.target_fullname]
    if isinstance(column.type, Uuid):
        return uuid4()
    for kind, value in VALUES:
        if isinstance(column.type, kind):
            return value
    raise AssertionError(f"no value is known for {column}, which is {column.type!r}")
