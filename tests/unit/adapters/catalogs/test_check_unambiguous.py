"""New tables get only names that cannot be read as something else, whoever creates them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from service.adapters.catalogs.check_unambiguous import check_unambiguous
from service.adapters.demo_data.log_table import make_log_table
from service.errors.ingest_errors import CreationInvalid
from service.ingest.schema_changes.creation_faults import creation_faults
from service.model.tables.reserved_names import METADATA_TABLES, is_reserved
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.table_creation import TableCreation, TableLayout
from service.model.tables.tables import TableName

VERSIONS = ("branch_", "branch_audit", "tag_v1", "snapshot_id_1", "at_timestamp_1700000000000")
RESERVED = (*METADATA_TABLES, *VERSIONS, *(table.upper() for table in (*METADATA_TABLES, *VERSIONS)))
FREE = (
    "file",
    "files_",
    "my_files",
    "branches",
    "tags",
    "snapshot_id_x",
    "snapshot_id_",
    "at_timestamp_",
    "x_tag_y",
)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    with closing(
        SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/c.db", warehouse=tmp_path.as_uri())
    ) as catalog:
        catalog.create_namespace("shop")
        catalog.create_table("shop.item", Schema(NestedField(1, "k", LongType())))
        catalog.create_namespace("shop.deep")
        yield catalog


@pytest.mark.parametrize("table", RESERVED)
def test_a_name_that_iceberg_reads_behind_a_table_is_none(table: str, catalog: SqlCatalog) -> None:
    assert is_reserved(table)
    with pytest.raises(CreationInvalid, match="metadata or a version"):
        check_unambiguous(catalog, ["shop"], table)


@pytest.mark.parametrize("table", FREE)
def test_any_other_name_is_one(table: str, catalog: SqlCatalog) -> None:
    assert not is_reserved(table)
    check_unambiguous(catalog, ["shop"], table)
    check_unambiguous(catalog, ["shop", "deep"], table)


def test_no_schema_has_the_name_of_a_table(catalog: SqlCatalog) -> None:
    for schema in (["shop", "item"], ["shop", "item", "more"]):
        with pytest.raises(CreationInvalid, match=r"shop\.item is a table"):
            check_unambiguous(catalog, schema, "t")


def test_no_table_has_the_name_of_a_schema(catalog: SqlCatalog) -> None:
    with pytest.raises(CreationInvalid, match="a schema has this name"):
        check_unambiguous(catalog, ["shop"], "deep")


def test_an_ingest_is_reported_before_anything_is_made() -> None:
    layout = TableLayout((), (), {})
    creation = TableCreation(TableSchema(0, (Field(1, "k", Primitive("long")),)), layout)
    [fault] = creation_faults(TableName("lake", "shop.item", "files"), creation, "/writes/0")
    assert fault.place == "/writes/0/table"
    assert "metadata" in fault.reason


def test_the_demo_makes_no_such_table_either(catalog: SqlCatalog) -> None:
    for name in ("shop.files", "shop.item.events"):
        with pytest.raises(CreationInvalid):
            make_log_table(catalog, name)
    assert catalog.list_tables("shop") == [("shop", "item")]
