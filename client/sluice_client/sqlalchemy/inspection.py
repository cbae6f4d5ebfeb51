"""Finds out what catalogs have, by the lists of the gateway. They need no engine, and follow its policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError, NoSuchTableError

from sluice_client import errors
from sluice_client.connection import Connection
from sluice_client.dbapi import Connection as DbapiConnection
from sluice_client.dbapi.exceptions import Error, OperationalError, as_dbapi
from sluice_client.listing.tables import TableDescription, TableList
from sluice_client.sqlalchemy.identifiers import full_name, levels
from sluice_client.sqlalchemy.type_texts import Spelling, type_of

Column = dict[str, Any]
T = TypeVar("T")
_TRANSFORMS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}
_COUNTED = re.compile(r"(bucket|truncate)\[([0-9]+)\]\Z")
_VIEW = re.compile(r"\s*CREATE\s+(?:\w+\s+){0,4}VIEW\s", re.I)


class Inspection:
    """Answers questions about schemas, tables and columns. Names without a catalog belong to `catalog`.

    Catalogs and tables that were looked up are kept in `known`. All methods raise SQLAlchemy's errors for
    those of DB-API.
    """

    def __init__(
        self,
        dbapi_connection: DbapiConnection,
        catalog: str | None,
        schema: str | None,
        known: dict[Any, Any] | None = None,
    ) -> None:
        self._dbapi = dbapi_connection
        self._catalog = catalog
        self._schema = schema
        self._known: dict[Any, Any] = {} if known is None else known

    @property
    def _client(self) -> Connection:
        return self._dbapi.client

    def schema_names(self) -> list[str]:
        """Returns the schemas of the catalog; without a catalog, those of all, with their catalogs' names."""
        with _as_sqlalchemy():
            found = self._client.schemas(self._catalog)
        return [entry.name if self._catalog is None else entry.schema for entry in found]

    def has_schema(self, schema: str) -> bool:
        """Whether there is such a schema. A catalog that is not known has none."""
        with _as_sqlalchemy():
            catalog, name = self._place(schema)
            if catalog not in self._catalogs():
                return False
            return any(entry.schema == name for entry in self._client.schemas(catalog))

    def names(self, schema: str | None, kind: str) -> list[str]:
        """Returns the names of the tables (`TABLE`) or views (`VIEW`) of a schema."""
        with _as_sqlalchemy():
            catalog, name = self._place(schema)
            return [entry.table for entry in self._listed(catalog, name) if entry.kind == kind]

    def temporary_views(self) -> list[str]:
        """Returns the names of the temporary views of the session; none without a session."""
        if self._dbapi.session is None:
            return []
        with _as_sqlalchemy():
            return [view.name for view in self._dbapi.session.open().state().views]

    def has_table(self, table: str, schema: str | None) -> bool:
        """Whether there is a table or view of this name, or a temporary view of the session."""
        with _as_sqlalchemy():
            if self._described(table, schema) is not None:
                return True
            catalog, name = self._place(schema)
            if any(entry.table == table for entry in self._listed(catalog, name)):
                return True
        return schema is None and table in self.temporary_views()

    def columns(self, table: str, schema: str | None) -> list[Column]:
        """Returns the columns of a table or view as SQLAlchemy describes them.

        Raises:
            NoSuchTableError: there is no such table, or the caller may not know of it.
        """
        with _as_sqlalchemy():
            described = self._described(table, schema)
            if described is None:
                return list(self._columns_by_spark(table, schema))
        source = described.raw.get("source")
        return [
            _column(
                column.name,
                type_of(column.type, _spelling(column.type, source)),
                not column.is_required,
                column.doc,
            )
            for column in described.columns
        ]

    def table_comment(self, table: str, schema: str | None) -> str | None:
        """Returns the comment of a table; None if it has none, for a view, and if there is no such table."""
        with _as_sqlalchemy():
            described = self._described(table, schema)
        comment = None if described is None else described.raw.get("comment")
        return comment if isinstance(comment, str) and comment else None

    def key_columns(self, table: str, schema: str | None) -> list[str]:
        """Returns the columns that identify a row; none for a view, or if it takes a field inside a struct.

        Rows are not held to them.
        """
        with _as_sqlalchemy():
            described = self._described(table, schema)
        if described is None:
            return []
        names = [str(name) for name in described.raw.get("identifierFields") or []]
        return names if {column.name for column in described.columns}.issuperset(names) else []

    def partitioned_by(self, table: str, schema: str | None) -> list[str]:
        """Returns what a table is partitioned by, as `sluice_partitioned_by` takes it; empty for a view."""
        with _as_sqlalchemy():
            described = self._described(table, schema)
        fields = [] if described is None else described.raw.get("partitionSpec") or []
        # The values of a field that was dropped are void.
        return [
            _partition(field["source"], field["transform"])
            for field in fields
            if field["transform"] != "void"
        ]

    def view_definition(self, view: str, schema: str | None) -> str:
        """Returns the statement that would create a view.

        Raises:
            NoSuchTableError: there is no such view.
        """
        with _as_sqlalchemy():
            try:
                rows = self._rows(f"SHOW CREATE TABLE {self._text_name(view, schema)}")
            except errors.NotFound:
                raise NoSuchTableError(view) from None
        text = str(rows[0][0]) if rows else ""
        if _VIEW.match(text) is None:
            raise NoSuchTableError(view)
        return text

    def current_names(self) -> tuple[str | None, str | None]:
        """Returns the catalog and the schema of names without one."""
        with _as_sqlalchemy():
            rows = self._rows("SELECT current_catalog(), current_schema()")
        return (rows[0][0], rows[0][1]) if rows else (None, None)

    def _columns_by_spark(self, table: str, schema: str | None) -> Iterator[Column]:
        try:
            described = self._dbapi.queries().describe(f"SELECT * FROM {self._text_name(table, schema)}")
        except errors.NotFound:
            raise NoSuchTableError(table) from None
        for column in described.columns:
            yield _column(column.name, type_of(column.type), column.is_nullable, None)

    def _listed(self, catalog: str | None, schema: str | None) -> TableList:
        """Returns all tables and views of a schema.

        Raises:
            OperationalError: the catalog does not say all of them now.
        """
        found = self._client.tables(catalog, schema)
        if found.missing_catalogs:
            raise OperationalError(
                f"the catalog {found.missing_catalogs[0]} does not list all its tables now"
            )
        return found

    def _described(self, table: str, schema: str | None) -> TableDescription | None:
        """Returns a table as its catalog describes it; None for a view, and for what only Spark may know."""
        catalog, name = self._place(schema)
        if catalog is None or name is None or "." in table:
            # With a dot, the name would be that of a table of a nested schema.
            return None
        full = f"{catalog}.{name}.{table}"
        return self._once(("table", full), lambda: self._table(full))

    def _table(self, full: str) -> TableDescription | None:
        try:
            return self._client.table(full)
        except (errors.NotFound, errors.RequestInvalid):
            return None

    def _rows(self, sql: str) -> Sequence[tuple[Any, ...]]:
        return self._dbapi.queries().query(sql, **self._dbapi.query_options).rows()

    def _text_name(self, table: str, schema: str | None) -> str:
        """Returns a name for a query. Without a schema, it may be that of a temporary view."""
        if schema is None and (self._dbapi.session is not None or self._schema is None):
            return full_name(table)
        catalog, name = self._place(schema)
        # A part of a name has no dot: those of a nested schema stand between its levels.
        before = [] if catalog is None else [catalog]
        return full_name(*before, *([] if name is None else name.split(".")), table)

    def _place(self, schema: str | None) -> tuple[str | None, str | None]:
        """Returns the catalog and the schema of a schema argument, as Spark would read it."""
        if schema is None:
            return self._catalog, self._schema
        first, *rest = levels(schema)
        if not rest:
            return self._catalog, first
        return (first, ".".join(rest)) if first in self._catalogs() else (self._catalog, schema)

    def _catalogs(self) -> tuple[str, ...]:
        return self._once("catalogs", self._client.catalogs)

    def _once(self, key: object, ask: Callable[[], T]) -> T:
        """Returns what was found before, or asks."""
        if key not in self._known:
            self._known[key] = ask()
        found: T = self._known[key]
        return found


def _spelling(type_text: str, source: object) -> Spelling:
    """Returns whose words a column's type has. Nested types of tables that are not Iceberg's are Spark's."""
    return Spelling.SPARK if source in ("FILES", "OTHER") and "<" in type_text else Spelling.ICEBERG


@contextmanager
def _as_sqlalchemy() -> Iterator[None]:
    """Turns the client's own errors into SQLAlchemy's, as those of statements become."""
    try:
        with as_dbapi():
            yield
    except Error as error:
        raise DBAPIError.instance(None, None, error, Error) from error


def _partition(source: str, transform: str) -> str:
    """Returns a field of a partition spec as Spark SQL spells it.

    >>> _partition("id", "identity"), _partition("at", "day"), _partition("id", "bucket[8]")
    ('id', 'days(at)', 'bucket(8, id)')
    """
    if transform == "identity":
        return source
    counted = _COUNTED.match(transform)
    if counted is not None:
        return f"{counted[1]}({counted[2]}, {source})"
    return f"{_TRANSFORMS.get(transform, transform)}({source})"


def _column(name: str, kind: Any, is_nullable: bool, comment: str | None) -> Column:
    return {
        "name": name,
        "type": kind,
        "nullable": is_nullable,
        "default": None,
        # A key of integers would otherwise be taken for one that the gateway counts up.
        "autoincrement": False,
        "comment": comment or None,
    }
