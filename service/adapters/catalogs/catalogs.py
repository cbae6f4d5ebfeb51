"""All configured catalogs, through PyIceberg."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import groupby
from typing import TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchIdentifierError, NoSuchNamespaceError, NoSuchTableError

from service.adapters.catalogs.answers_in_time import answers_in_time
from service.adapters.catalogs.catalog_connection import CatalogConnection
from service.adapters.catalogs.check_unambiguous import is_planted
from service.adapters.catalogs.name_suggestions import NameSuggestions
from service.adapters.catalogs.open_catalog import check_installed
from service.adapters.catalogs.opened_tables import OpenedTable, OpenedTables
from service.adapters.catalogs.spark_catalog_properties import check_catalog
from service.adapters.catalogs.table_identifiers import identifiers
from service.adapters.concurrency.bounded_calls import BoundedCalls
from service.adapters.disk.synced_files import Sync, sync_files
from service.errors.table_errors import TableAmbiguous, TableNotFound, TableUnreadable
from service.errors.unavailable import CatalogDown
from service.model.operations.health import PartHealth, PartState
from service.model.operations.usage import CacheUse
from service.model.tables.tables import TableAt, TableFacts, TableListing, TableName
from service.ports.clock import Clock
from service.single_flight import SingleFlight

T = TypeVar("T")

_NOT_THERE = (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError)
_CALLS_AT_MOST = 32
_MIB = 1024**2


class PyIcebergCatalogs:
    """Implements `service.ports.tables.catalogs.Catalogs`; properties have PyIceberg's names.

    A catalog is opened only when it is needed, and opened again after a failure, so that the gateway starts
    and keeps running while a catalog is down. Thread-safe.

    Raises:
        CannotStart: a catalog's name, type or properties are not possible, or a Python package is missing.
    """

    def __init__(
        self,
        catalogs: Mapping[str, Mapping[str, str]],
        clock: Clock,
        timeout_s: float = 10.0,
        health_timeout_s: float = 1.0,
        facts_timeout_s: float = 1.0,
        max_cached_tables: int = 10_000,
        max_cached_bytes: int = 128 * _MIB,
        sync: Sync = sync_files,
        engine_faults: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        for name, properties in catalogs.items():
            check_catalog(name, properties)
            check_installed(name, properties)
        self._timeout_s = timeout_s
        self._engine_faults = engine_faults
        self._health_timeout_s = health_timeout_s
        self._facts_timeout_s = facts_timeout_s
        self._tables = OpenedTables(max_cached_tables, max_cached_bytes)
        self._calls = BoundedCalls(_CALLS_AT_MOST, (CatalogDown, TableUnreadable, *_NOT_THERE))
        self._connections = {
            name: CatalogConnection(name, properties, timeout_s, sync)
            for name, properties in catalogs.items()
        }
        self._checks: SingleFlight[str, bool] = SingleFlight()
        self._suggestions = NameSuggestions(self._full_names, clock, health_timeout_s)

    @property
    def cache_use(self) -> CacheUse:
        """The memory used by cached metadata of tables."""
        return self._tables.use

    def forget_tables(self) -> int:
        """Forgets the cached metadata of all tables, and returns of how many there was some."""
        return self._tables.clear()

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        """Every table, ordered by name; only those of one catalog or schema, if given.

        Raises:
            CatalogDown: the requested catalog does not answer, or no catalog does.
        """
        asked = [name for name in self._connections if catalog in (None, name)]
        if len(asked) == 1:
            return TableListing(tuple(sorted(self._tables_of(asked[0], schema))))
        calls = {name: partial(self._tables_of, name, schema) for name in asked}
        found = self._calls.answers(calls, _listing_lane, self._timeout_s)
        if asked and not found:
            raise CatalogDown("No catalog answers.")
        missing = tuple(name for name in asked if name not in found)
        return TableListing(
            tuple(sorted(table for of_catalog in found.values() for table in of_catalog)), missing
        )

    def facts(self, name: TableName) -> TableFacts:
        """Returns the table as it is now.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has that name (`nearest` is filled).
            CatalogDown: the catalog does not answer.
        """
        return self.opened(name).facts

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        """Returns the tables as they are now, or were at these versions; never raises.

        It omits tables and versions that do not exist, those for which it is uncertain how the engine reads
        them, and those whose catalog does not answer within about a second.
        """
        calls = {name: partial(self._facts_in, name, group) for name, group in self._by_catalog(tables)}
        found = self._calls.answers(calls, str, self._facts_timeout_s)
        return {table: facts for of_catalog in found.values() for table, facts in of_catalog.items()}

    def opened(self, name: TableName) -> OpenedTable:
        """Returns the table as it is now, for callers that read its files.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has that name (`nearest` is filled).
            CatalogDown: the catalog does not answer.
        """
        if name.catalog in self._connections:
            try:
                opened = self._load(name)
                if self._is_planted(name):
                    raise TableAmbiguous(str(name))
                return opened
            except _NOT_THERE:
                pass
        raise TableNotFound(str(name), self.nearest(str(name)))

    def nearest(self, dotted: str) -> Sequence[str]:
        """At most three full names most similar to this one; empty if no catalog answers.

        A listing is cached for a few seconds, so that a burst of typing errors asks each catalog once.
        """
        return self._suggestions.nearest(dotted, self._connections)

    def health(self) -> Sequence[PartHealth]:
        """One entry per catalog, named `catalog:<name>`, within about a second even if some hang.

        A catalog is up if both the gateway and its engine can use it: the gateway writes, the engine reads.
        """
        in_engine = self._engine_faults()
        up = answers_in_time(self._checks, self._is_up, self._connections, self._health_timeout_s)
        return [
            self._health_of(connection, in_engine.get(connection), is_up=connection in up)
            for connection in self._connections
        ]

    def pyiceberg(self, name: str) -> Catalog:
        """Returns a configured catalog, opened, for callers that write to it.

        Raises:
            CatalogDown: the catalog does not answer.
        """
        return self._connections[name].ask(lambda catalog: catalog)

    def ask(self, name: str, question: Callable[[Catalog], T]) -> T:
        """Returns a catalog's answer to a writer. PyIceberg's errors for what does not exist pass through.

        Raises:
            CatalogDown: the catalog does not answer, or is not configured.
        """
        if name not in self._connections:
            raise CatalogDown(f"There is no catalog {name} in the configuration.")
        return self._connections[name].ask(question)

    def out_of_turn(self, name: str) -> AbstractContextManager[None]:
        """Lets others ask a catalog while a question, which is being asked, waits for something else."""
        return self._connections[name].out_of_turn()

    def is_configured(self, name: str) -> bool:
        """Whether a catalog of this name is configured, up or down."""
        return name in self._connections

    def close(self) -> None:
        """Closes every catalog; a later question opens it again."""
        for connection in self._connections.values():
            connection.close()

    def _by_catalog(self, tables: Iterable[TableAt]) -> Iterator[tuple[str, list[TableAt]]]:
        configured = sorted(
            (table for table in tables if table.name.catalog in self._connections),
            key=lambda table: table.name.catalog,
        )
        for name, group in groupby(configured, key=lambda table: table.name.catalog):
            yield name, list(group)

    def _facts_in(self, catalog_name: str, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        names = sorted({table.name for table in tables})
        known, unknown = self._connections[catalog_name].ask(
            lambda catalog: self._tables.known(catalog, _unambiguous(catalog, names))
        )
        loading = {name: partial(self._load, name) for name in unknown}
        # A little earlier than the callers that wait for this, so that a table that hangs does not cost the
        # others.
        loaded = self._calls.answers(loading, _loading_lane, 0.8 * self._facts_timeout_s)
        opened = known | loaded
        missing = self._missing({table.unless for table in tables if table.unless and table.name in opened})
        meant = [table for table in tables if table.name in opened and table.unless in (None, *missing)]
        found = {table_at: self._tables.facts_at(opened[table_at.name], table_at) for table_at in meant}
        return {table: facts for table, facts in found.items() if facts is not None}

    def _missing(self, names: Collection[TableName]) -> frozenset[TableName]:
        """The names that certainly belong to no table; names whose check failed are not included."""
        calls = {name: partial(self._is_missing, name) for name in names}
        answers = self._calls.answers(calls, _loading_lane, 0.8 * self._facts_timeout_s) if calls else {}
        return frozenset(name for name, is_missing in answers.items() if is_missing)

    def _is_missing(self, name: TableName) -> bool:
        try:
            self._load(name)
        except _NOT_THERE:
            return True
        return False

    def _load(self, name: TableName) -> OpenedTable:
        return self._connections[name.catalog].ask(lambda catalog: self._tables.opened(catalog, name))

    def _is_planted(self, name: TableName) -> bool:
        return self._connections[name.catalog].ask(lambda catalog: is_planted(catalog, name))

    def _tables_of(self, name: str, schema: str | None) -> list[TableName]:
        found = self._connections[name].ask(lambda catalog: list(identifiers(catalog, schema)))
        return [TableName(name, ".".join(identifier[:-1]), identifier[-1]) for identifier in found]

    def _full_names(self, name: str) -> tuple[str, ...]:
        return tuple(str(table) for table in self._tables_of(name, None))

    def _is_up(self, name: str) -> bool:
        self._connections[name].ask(lambda catalog: catalog.list_namespaces())
        return True

    def _health_of(self, name: str, engine_fault: str | None, *, is_up: bool) -> PartHealth:
        part = f"catalog:{name}"
        if not is_up:
            cause = self._connections[name].fault
            because = f" ({cause})" if cause else ""
            return PartHealth(part, PartState.DOWN, f"The catalog {name} does not answer{because}.")
        if engine_fault is not None:
            return PartHealth(
                part, PartState.DOWN, f"The engine cannot use the catalog {name}: {engine_fault}."
            )
        return PartHealth(part, PartState.UP)


def _listing_lane(name: str) -> str:
    return f"{name}-listing"


def _loading_lane(name: TableName) -> str:
    # Not the lane of the callers that wait for it: if that one were full, they would wait for each other.
    return f"{name.catalog}-tables"


def _unambiguous(catalog: Catalog, names: Iterable[TableName]) -> list[TableName]:
    return [name for name in names if not is_planted(catalog, name)]
