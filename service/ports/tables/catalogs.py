"""Catalogs: their tables, views and schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from service.model.operations.health import PartHealth
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableAt, TableFacts, TableListing, TableName
from service.model.tables.views import View, ViewReading


class Catalogs(Protocol):
    """All configured catalogs, read as they are now."""

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        """Lists every table in order of name; only those of one catalog or schema, if given.

        Raises:
            CatalogDown: the catalog that was named does not answer, or none does.
        """

    def facts(self, name: TableName) -> TableFacts:
        """Returns the table as it is now.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name (`nearest` is filled).
            CatalogDown: the catalog does not answer.
        """

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        """Returns the tables as they are now, or were at these versions; never raises.

        All versions of a table are from the same moment. The result omits missing tables and versions, tables
        that the engine may read differently than these facts say, and tables whose catalog does not answer
        within about a second.
        """

    def nearest(self, dotted: str) -> Sequence[str]:
        """Returns at most three full names that are most similar to this one; empty if no catalog answers."""

    def health(self) -> Sequence[PartHealth]:
        """One entry per catalog, named `catalog:<name>`."""


class SessionTables(Protocol):
    """The tables of the engine's own catalog: folders of files, and the tables of a metastore."""

    def tables(self) -> Sequence[TableName]:
        """Lists all of them.

        Raises:
            CatalogDown: the engine, or its metastore, does not answer.
        """

    def facts(self, name: TableName, max_age_ms: int) -> TableFacts | None:
        """Returns the table, its current columns and files at most `max_age_ms` old; None if missing.

        Raises:
            CatalogDown: the engine, or its metastore, does not answer.
        """

    def check(self) -> None:
        """Checks that the catalog answers.

        Raises:
            CatalogDown: it does not.
        """


class Views(Protocol):
    """The views of the catalogs, as the engine reads them."""

    def view(self, name: TableName) -> View | None:
        """Returns the current view, never an older one; None if no view has this name.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """

    def is_read_alike(self, reading: ViewReading) -> bool:
        """Whether the engine reads the query like the view: the same columns, types and rows.

        It compares the two as they are now. The query may stand anywhere, because none of its names can be
        taken for another's.

        Raises:
            CatalogDown: nobody can tell now.
        """


class CatalogContents(Protocol):
    """The schemas and views of the catalogs, as the engine lists them."""

    def schemas(self, catalog: str) -> Sequence[SchemaEntry]:
        """Lists the schemas of a catalog, also those without tables.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """

    def views(self, catalog: str, schema: str) -> Sequence[TableName]:
        """Lists the views of a schema; none if the catalog has no views, or no such schema.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """
