"""The contract of `DeadLetterTables`, for every implementation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.commits.dead_letter_tables import PyIcebergDeadLetterTables
from service.errors.unavailable import CatalogDown
from service.ingest.dead_letters.dead_letters import FIELDS
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName
from service.ports.tables.table_changes import DeadLetterTables
from tests.fakes.clock import FakeClock
from tests.fakes.dead_letter_tables import FakeDeadLetterTables

NAME = TableName("lake", "s", "t__dead_letter")
SCHEMA = TableSchema(0, FIELDS)


@pytest.fixture(params=["fake", "pyiceberg"])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DeadLetterTables]:
    if request.param == "fake":
        yield FakeDeadLetterTables(SCHEMA)
        return
    lake = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": tmp_path.as_uri()}
    with closing(SqlCatalog("lake", uri=lake["uri"], warehouse=lake["warehouse"])) as catalog:
        catalog.create_namespace("s")
    lost = lake | {"uri": f"sqlite:///{tmp_path}/nowhere/catalog.db"}
    with closing(PyIcebergCatalogs({"lake": lake, "lost": lost}, FakeClock())) as catalogs:
        yield PyIcebergDeadLetterTables(catalogs, SCHEMA)


def test_the_table_is_made_once_and_is_the_same_from_then_on(tables: DeadLetterTables) -> None:
    first, second = tables.opened(NAME), tables.opened(NAME)
    assert first.table_uuid == second.table_uuid
    assert [column.name for column in first.schema.columns] == [field.name for field in FIELDS]
    [by_day] = first.partition_fields
    assert (by_day.source, by_day.transform, first.format_version) == ("received_at", "day", 2)


def test_a_catalog_that_is_down_is_reported(tables: DeadLetterTables) -> None:
    name = NAME
    if isinstance(tables, FakeDeadLetterTables):
        tables.is_down = True
    else:
        name = TableName("lost", "s", "t__dead_letter")
    with pytest.raises(CatalogDown):
        tables.opened(name)
