"""Several gateways create and evolve one table at once, on a real PostgreSQL catalog."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.commits.table_changes import PyIcebergTableChanges
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.ingest.schema_changes.change_rules import NOTHING_FORBIDDEN
from service.ingest.schema_changes.match_tables import match_tables
from service.model.ingest.ingest_request import Write
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.table_creation import RequestedSchema, TableLayout
from service.model.tables.tables import TableName
from tests.integration.ingest.lakehouse import IngestLakehouse

pytestmark = pytest.mark.integration
CLIENTS = 8
LONG, STRING = Primitive("long"), Primitive("string")


class Gateway:
    """The catalogs and tables that one gateway has open."""

    def __init__(self, lakehouse: IngestLakehouse) -> None:
        self.catalogs = PyIcebergCatalogs({"lake": lakehouse.properties}, SystemClock())
        self._tables = PyIcebergWritableTables(self.catalogs)
        self._changes = PyIcebergTableChanges(self.catalogs, first_pause_s=0.005)

    def match(self, key: TableKey, *columns: Field) -> WritableTable:
        requested = RequestedSchema(TableSchema(0, columns), evolves=True, create=TableLayout())
        writes = [Write(key, (), schema=requested)]
        matched = match_tables(writes, self._tables, self._changes, NOTHING_FORBIDDEN, lambda *_: None)
        return matched.by_key[key]


def test_of_many_who_make_and_evolve_a_table_each_column_is_there_once(lakehouse: IngestLakehouse) -> None:
    gateways = [Gateway(lakehouse), Gateway(lakehouse)]
    key = TableKey(TableName("lake", f"new_{lakehouse.key.table.table}", "events"))
    barrier = Barrier(CLIENTS)

    def client(number: int) -> list[WritableTable]:
        gateway = gateways[number % 2]
        found: list[WritableTable] = []
        for step in range(3):
            barrier.wait(30)
            shared = (Field(1, "id", LONG), Field(2, f"shared_{step}", STRING))
            found.append(gateway.match(key, *shared, Field(3, f"own_{number}", LONG)))
        return found

    with ThreadPoolExecutor(CLIENTS) as clients:
        found = [table for tables in clients.map(client, range(CLIENTS)) for table in tables]
    for gateway in gateways:
        gateway.catalogs.close()
    final = max(found, key=lambda table: table.schema.schema_id)
    ids = {column.name: column.field_id for column in final.schema.columns}
    wanted = {"id", *(f"shared_{step}" for step in range(3)), *(f"own_{number}" for number in range(CLIENTS))}
    assert set(ids) == wanted
    assert len(final.schema.columns) == len(wanted) == len(set(ids.values()))
    # Every answer, whenever it came, has the columns' final ids.
    assert all(ids[column.name] == column.field_id for table in found for column in table.schema.columns)
