"""Opens tables and parses their metadata. A metadata file never changes, so each is parsed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyiceberg.catalog import Catalog
from pyiceberg.table import Table
from pyiceberg.typedef import Identifier

from service.adapters.catalogs.caching_sql_catalog import CachingSqlCatalog
from service.adapters.catalogs.table_facts import facts_at, table_facts
from service.bounded_lru import BoundedLru
from service.model.operations.usage import CacheUse
from service.model.tables.tables import NOW, TableAt, TableFacts, TableName

# Measured in a process's memory, rounded up.
_FIXED_BYTES = 20_000
_SNAPSHOT_BYTES = 5_000
_FIELD_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table at one metadata file. Many threads read it at once, so it must not be changed or refreshed."""

    table: Table
    facts: TableFacts


@dataclass(frozen=True, slots=True)
class _Past:
    """None: this metadata file has no such version, or it is unknown how the version is read."""

    facts: TableFacts | None
    location: str


class OpenedTables:
    """Opens tables, and reuses a table opened earlier at the same metadata file.

    One version of each table is cached: a version that a commit has replaced is not read any more, and
    otherwise a table written each second would evict all others.
    """

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        self._cached: BoundedLru[TableName, OpenedTable] = BoundedLru(max_entries, max_bytes)
        self._past: BoundedLru[TableAt, _Past] = BoundedLru(max_entries, max_bytes // 8)

    @property
    def use(self) -> CacheUse:
        """The use of the cache of current tables."""
        return self._cached.use

    def clear(self) -> int:
        """Forgets all tables, and returns how many there were."""
        self._past.clear()
        return self._cached.clear()

    def opened(self, catalog: Catalog, name: TableName) -> OpenedTable:
        """Returns the table as its catalog has it now.

        Raises:
            Exception: what PyIceberg raises if the table does not exist, or cannot be read.
        """
        table = None
        if isinstance(catalog, CachingSqlCatalog):
            location = catalog.location(*_place(name))
            opened = self._cached_at(name, location) if location else None
            if opened is not None:
                return opened
            table = catalog.cached(identifier_of(name), location) if location else None
        return self._cached_or_new(name, table or catalog.load_table(identifier_of(name)))

    def known(
        self, catalog: Catalog, names: Iterable[TableName]
    ) -> tuple[dict[TableName, OpenedTable], frozenset[TableName]]:
        """Returns tables whose newest metadata is already cached, and those that must be opened.

        Tables that do not exist are in neither. Only a SQL catalog reports the metadata's location without
        reading the metadata; in other catalogs all tables must be opened.
        """
        if not isinstance(catalog, CachingSqlCatalog):
            return {}, frozenset(names)
        asked = {_place(name): name for name in names}
        locations = catalog.locations(asked)
        cached = {
            asked[place]: self._cached_at(asked[place], location) for place, location in locations.items()
        }
        known = {name: opened for name, opened in cached.items() if opened is not None}
        return known, frozenset(cached.keys() - known.keys())

    def facts_at(self, opened: OpenedTable, asked: TableAt) -> TableFacts | None:
        """Returns an opened table as it was at a version; None if that is uncertain."""
        if asked.version == NOW:
            return opened.facts
        location = opened.table.metadata_location
        cached = self._past.get(asked, lambda past: past.location == location) if location else None
        if cached is None:
            cached = _Past(facts_at(opened.table, asked), location)
            if location:
                fields = len(cached.facts.columns) if cached.facts is not None else 0
                self._past.put(asked, cached, _FIXED_BYTES + _FIELD_BYTES * fields)
        return cached.facts

    def _cached_at(self, name: TableName, location: str) -> OpenedTable | None:
        return self._cached.get(name, lambda opened: opened.table.metadata_location == location)

    def _cached_or_new(self, name: TableName, table: Table) -> OpenedTable:
        # A REST catalog need not report the metadata's location; without it, nothing shows whether the
        # metadata is the same.
        cached = self._cached_at(name, table.metadata_location) if table.metadata_location else None
        if cached is None:
            opened = OpenedTable(table, table_facts(name, table))
            if table.metadata_location:
                self._cached.put(name, opened, _byte_count(table))
            return opened
        # The catalog's credentials for the files may have changed since, so only the facts come from the
        # cache.
        return OpenedTable(table, cached.facts)


def identifier_of(name: TableName) -> Identifier:
    """The name inside its catalog, in PyIceberg's form."""
    return name.parts[1:]


def _place(name: TableName) -> tuple[str, str]:
    """The name inside its catalog, as in the SQL catalog's table."""
    return name.schema, name.table


def _byte_count(table: Table) -> int:
    fields = sum(len(schema.fields) for schema in table.metadata.schemas)
    return _FIXED_BYTES + _SNAPSHOT_BYTES * len(table.metadata.snapshots) + _FIELD_BYTES * fields
