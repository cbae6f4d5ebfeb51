"""Lists catalogs, schemas, tables, views and columns for the metadata calls of drivers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from api.bootstrap.settings import Settings
from api.sql_protocols.login import ProtocolCaller
from api.sql_protocols.patterns import exact, like, plain_name
from service.browsing.catalog_browser import RelationQuery
from service.errors.query_errors import ResultTooLarge
from service.gateway import Gateway
from service.model.tables.contents import RelationEntry, RelationKind, SchemaEntry
from service.model.tables.tables import TableColumn, TableName

_EVERY_ONE = 1 << 31
_COLUMNS_AT_ONCE = 100
ALL_KINDS = frozenset(RelationKind)
_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePatterns:
    """The request of a driver. `catalog` is a name, the others are patterns; None matches all."""

    catalog: str | None = None
    schema: str | None = None
    table: str | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class ListedColumn:
    """A column of a table or view; the first has position 1.

    `is_iceberg`: the name of its type is Iceberg's, as tables have it; that of a view is the engine's.
    """

    relation: TableName
    position: int
    column: TableColumn
    is_iceberg: bool = True


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of those that identify a row of a table; the first has position 1."""

    relation: TableName
    position: int
    column: str


class Listing:
    """Lists what a caller may know of. Any thread may call any method. A catalog that is down has nothing.

    Each method raises CatalogDown if the catalog that was named does not answer, or none does, and
    ResultTooLarge if there are more entries than the operator allows: a list that was cut would be wrong.
    """

    def __init__(self, gateway: Callable[[], Gateway], settings: Settings) -> None:
        self._gateway = gateway
        self._max_entries = settings.max_listed_entries

    def catalogs(self, caller: ProtocolCaller, name: str | None = None) -> Sequence[str]:
        """Returns names of catalogs. An empty name counts as none. Asks no catalog."""
        gateway = self._gateway()
        known = gateway.browser.catalogs(gateway.access_of(caller.principal))
        return [found for found in known if not name or found == name]

    def schemas(self, caller: ProtocolCaller, asked: NamePatterns) -> Sequence[SchemaEntry]:
        """Returns schemas, also empty ones."""
        if not self.catalogs(caller, asked.catalog):
            return []
        gateway = self._gateway()
        found = gateway.browser.schemas(asked.catalog or None, gateway.access_of(caller.principal)).schemas
        pattern = like(asked.schema)
        return self._bounded([entry for entry in found if pattern.fullmatch(entry.schema)])

    def relations(
        self,
        caller: ProtocolCaller,
        asked: NamePatterns,
        kinds: Collection[RelationKind] = ALL_KINDS,
        *,
        has_columns: bool = False,
    ) -> Sequence[RelationEntry]:
        """Returns tables and views in order of name; with `has_columns`, also comments and columns.

        A table that cannot be read now has none.
        """
        if not self.catalogs(caller, asked.catalog):
            return []
        schema, table = like(asked.schema), like(asked.table)
        found = [
            entry
            for entry in self._all(caller, asked)
            if entry.kind in kinds
            and schema.fullmatch(entry.name.schema)
            and table.fullmatch(entry.name.table)
        ]
        found = self._bounded(found)
        return self.described(found) if has_columns else found

    def described(self, entries: Sequence[RelationEntry]) -> Sequence[RelationEntry]:
        """Adds comments and columns to entries, as far as they are known now."""
        browser = self._gateway().browser
        found: list[RelationEntry] = []
        for start in range(0, len(entries), _COLUMNS_AT_ONCE):
            found += browser.with_columns(entries[start : start + _COLUMNS_AT_ONCE])
        return found

    def columns(self, caller: ProtocolCaller, asked: NamePatterns) -> Sequence[ListedColumn]:
        """Returns the columns of tables and views, in order of name and position."""
        pattern = like(asked.column)
        listed: list[ListedColumn] = []
        for entry in self.relations(caller, asked, has_columns=True):
            for position, column in enumerate(entry.columns or (), start=1):
                if pattern.fullmatch(column.name):
                    is_table = entry.kind is RelationKind.TABLE
                    listed.append(ListedColumn(entry.name, position, column, is_table))
            self._bounded(listed)
        return listed

    def key_columns(
        self, caller: ProtocolCaller, table: str, schema: str | None = None, catalog: str | None = None
    ) -> Sequence[KeyColumn]:
        """Returns the columns that identify a row of the tables of this name, in order of name and position.

        Names are not patterns here. Rows are not held to keys.
        """
        if not table:
            return []
        asked = NamePatterns(
            catalog=catalog, schema=None if schema is None else exact(schema), table=exact(table)
        )
        names = [entry.name for entry in self.relations(caller, asked, {RelationKind.TABLE})]
        gateway = self._gateway()
        keys = gateway.browser.keys(names, gateway.access_of(caller.principal))
        return [
            KeyColumn(name, position, column)
            for name, columns in keys.items()
            for position, column in enumerate(columns, start=1)
        ]

    def _all(self, caller: ProtocolCaller, asked: NamePatterns) -> Sequence[RelationEntry]:
        gateway = self._gateway()
        # A page would list all of them as well, and cut the rest off.
        query = RelationQuery(asked.catalog or None, plain_name(asked.schema), _EVERY_ONE)
        return gateway.browser.relations(query, gateway.access_of(caller.principal)).entries

    def _bounded(self, found: list[_Entry]) -> list[_Entry]:
        if len(found) > self._max_entries:
            raise ResultTooLarge(
                f"There are more than {self._max_entries} entries. Ask for one schema, or one table."
            )
        return found
