"""A gateway over fakes with two catalogs, whose tables have every type, and with views."""

from __future__ import annotations

from dataclasses import replace

from service.browsing.catalog_browser import CatalogBrowser
from service.model.query.results import Column
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import (
    PartitionField,
    TableColumn,
    TableFacts,
    TableListing,
    TableName,
    TableSource,
)
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.contents import FakeContents
from tests.fakes.gateway import FakeGateway
from tests.fakes.probe_values import FakeProbeValues
from tests.fakes.queries import NOON
from tests.fakes.views import FakeViews

ORDERS = TableName("lake", "shop", "orders")
NORTH = TableName("lake", "shop.north", "orders")
OTHER = TableName("mem", "shop", "other")
FOLDER = TableName("mem", "files", "folder")
VIEW = TableName("lake", "shop", "some_orders")
VIEW_COLUMNS = (
    Column("id", "BIGINT", is_nullable=False),
    Column("at", "TIMESTAMP", is_nullable=True),
    Column("place", "STRUCT<city: STRING>", is_nullable=True),
)
_COLUMNS = (
    ("id", "long", True, "the key"),
    ("kind", "string", False, None),
    ("price", "decimal(7, 2)", False, None),
    ("at", "timestamptz", False, None),
    ("at_local", "timestamp", False, None),
    ("day", "date", False, None),
    ("is_new", "boolean", False, None),
    ("share", "double", False, None),
    ("body", "binary", False, None),
    ("tags", "list<string>", False, None),
    ("place", "struct<91: city: optional string>", False, None),
    ("a `name`: 50%?", "map<string, int>", False, None),
)


def table_of(name: TableName) -> TableFacts:
    columns = tuple(
        TableColumn(number, *column[:2], is_required=column[2], doc=column[3])
        for number, column in enumerate(_COLUMNS, 1)
    )
    return replace(facts_of_empty_table(name, columns), comment=f"all of {name}")


def folder_of(name: TableName) -> TableFacts:
    """Returns a table of files, as Spark's own catalog describes it: its nested types are Spark's."""
    types = ("long", "timestamp", "char(3)", "struct<at:timestamp,tags:array<string>>")
    columns = tuple(
        TableColumn(number, f"c{number}", kind, is_required=False) for number, kind in enumerate(types, 1)
    )
    return replace(facts_of_empty_table(name, columns), source=TableSource.FILES)


def partitioned(table: TableFacts) -> TableFacts:
    fields = (("kind", "identity"), ("at", "day"), ("id", "bucket[8]"), ("day", "void"))
    spec = tuple(PartitionField(f"p_{source}", source, transform) for source, transform in fields)
    return replace(table, partition_fields=spec)


class Lake(FakeGateway):
    """Its catalogs are `lake`, `mem` and `empty`."""

    def __init__(self) -> None:
        names = ("empty", "lake", "mem")
        tables = [table_of(ORDERS), table_of(NORTH), partitioned(table_of(OTHER)), folder_of(FOLDER)]
        self.catalogs = FakeCatalogs(names, tables)
        super().__init__()
        schemas = [
            SchemaEntry(name.catalog, name.schema, None)
            for name in (ORDERS, NORTH, OTHER, TableName("lake", "new", ""))
        ]
        self.contents = FakeContents(schemas, [VIEW])

    @property
    def browser(self) -> CatalogBrowser:
        names = {"empty", "lake", "mem"}
        parts = (self.catalogs, self.contents, FakeViews(), FakeProbeValues(), FakeClock(NOON))
        return CatalogBrowser(names, *parts)

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        return self.catalogs.tables(catalog, schema)

    def table(self, name: TableName) -> TableFacts:
        # The maintenance of the fake asks for a table of its own.
        return self.catalogs.facts(name) if name.schema != "tpcds" else super().table(name)
