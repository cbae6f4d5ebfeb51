"""The contract of `WritableTables`, for every implementation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField as IcebergPartitionField
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import NullOrder, SortDirection
from pyiceberg.table.sorting import SortField as IcebergSortField
from pyiceberg.table.sorting import SortOrder as IcebergSortOrder
from pyiceberg.transforms import IdentityTransform, MonthTransform
from pyiceberg.types import DateType, LongType, NestedField, StringType

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.plan.writer_state import WriterState
from service.errors.ingest_errors import IngestInvalid
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import MAIN, TableKey, WritableTable
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.tables import PartitionField, SortField, SortOrder, TableName
from service.ports.tables.table_changes import WritableTables
from tests.fakes.clock import FakeClock
from tests.fakes.writable_tables import FakeWritableTables

NAME = TableName("lake", "s", "t")
SCHEMA = TableSchema(
    0,
    (Field(1, "id", Primitive("long"), is_required=True), Field(2, "day", Primitive("date"))),
    frozenset({1}),
)
PARTITION_FIELDS = (PartitionField("day_month", "day", "month"),)
SORT_FIELDS = (SortField("id", "identity", "desc", "nulls-last"),)


def properties(folder: Path, database: str = "catalog.db") -> dict[str, str]:
    return {
        "type": "sql",
        "uri": f"sqlite:///{folder}/{database}",
        "warehouse": folder.as_uri(),
        "s3.secret-access-key": "hidden",
        "token": "for-the-catalog",
    }


def opened_by_others(folder: Path) -> SqlCatalog:
    given = properties(folder)
    return SqlCatalog("lake", uri=given["uri"], warehouse=given["warehouse"])


def create_table(folder: Path) -> None:
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "day", DateType()),
        identifier_field_ids=[1],
    )
    spec = PartitionSpec(IcebergPartitionField(2, 1000, MonthTransform(), "day_month"))
    order = IcebergSortOrder(
        IcebergSortField(1, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_LAST)
    )
    with closing(opened_by_others(folder)) as catalog:
        catalog.create_namespace("s")
        wanted = {"write.data.path": "file:///elsewhere", "comment": "nothing to a writer"}
        catalog.create_table("s.t", schema, partition_spec=spec, sort_order=order, properties=wanted)


def snapshot_id(table: Table) -> int:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot.snapshot_id


@pytest.fixture
def real(tmp_path: Path) -> Iterator[PyIcebergWritableTables]:
    create_table(tmp_path)
    lost = properties(tmp_path / "nowhere")
    with closing(PyIcebergCatalogs({"lake": properties(tmp_path), "lost": lost}, FakeClock())) as catalogs:
        yield PyIcebergWritableTables(catalogs)


@pytest.fixture(params=["fake", "pyiceberg"])
def tables(request: pytest.FixtureRequest) -> WritableTables:
    if request.param == "fake":
        key = TableKey(NAME)
        orders = (SortOrder(1, SORT_FIELDS),)
        return FakeWritableTables(
            WritableTable(key, uuid4(), 2, SCHEMA, 0, PARTITION_FIELDS, SORT_FIELDS, b"", sort_orders=orders)
        )
    found: WritableTables = request.getfixturevalue("real")
    return found


def test_a_table_is_reported_with_all_that_decides_how_its_files_look(tables: WritableTables) -> None:
    table = tables.writable(NAME, MAIN)
    assert (table.key, table.format_version, table.spec_id) == (TableKey(NAME), 2, 0)
    assert table.schema == SCHEMA
    assert (table.partition_fields, table.sort_fields) == (PARTITION_FIELDS, SORT_FIELDS)
    assert table.sort_orders == (SortOrder(1, SORT_FIELDS),)
    assert table.table_uuid == tables.writable(NAME, MAIN).table_uuid


def test_a_branch_need_not_be_there(tables: WritableTables) -> None:
    assert tables.writable(NAME, "audit").key == TableKey(NAME, "audit")


def test_a_tag_is_no_branch(tables: WritableTables, tmp_path: Path) -> None:
    if isinstance(tables, FakeWritableTables):
        tables.tag(NAME, "release")
    else:
        with closing(opened_by_others(tmp_path)) as catalog:
            table = catalog.load_table("s.t")
            table.append(table.scan().to_arrow())
            table.manage_snapshots().create_tag(snapshot_id(table), "release").commit()
            table.manage_snapshots().create_branch(snapshot_id(table), "audit").commit()
    with pytest.raises(IngestInvalid, match=r"release is a tag of lake\.s\.t"):
        tables.writable(NAME, "release")
    for branch in (MAIN, "audit"):
        assert tables.writable(NAME, branch).key == TableKey(NAME, branch)


def test_a_table_that_is_not_there_is_reported_with_those_that_are(tables: WritableTables) -> None:
    with pytest.raises(TableNotFound) as missing:
        tables.writable(TableName("lake", "s", "tt"), MAIN)
    assert missing.value.nearest == ("lake.s.t",)


def test_a_table_of_a_schema_that_is_not_there_is_reported(tables: WritableTables) -> None:
    with pytest.raises(TableNotFound):
        tables.writable(TableName("lake", "nowhere", "t"), MAIN)


def test_a_catalog_that_is_down_is_reported(tables: WritableTables) -> None:
    name = NAME
    if isinstance(tables, FakeWritableTables):
        tables.is_down = True
    else:
        name = TableName("lost", "s", "t")
    with pytest.raises(CatalogDown):
        tables.writable(name, MAIN)


def test_what_others_change_is_seen_at_once(real: PyIcebergWritableTables, tmp_path: Path) -> None:
    before = real.writable(NAME, MAIN)
    with closing(opened_by_others(tmp_path)) as catalog:
        table = catalog.load_table("s.t")
        with table.update_schema() as schema:
            schema.add_column("note", StringType())
        with table.update_spec() as spec:
            spec.remove_field("day_month").add_identity("day")
        with table.transaction() as transaction:
            transaction.set_properties({"write.data.path": "file:///there"})
    after = real.writable(NAME, MAIN)
    assert (before.table_uuid, before.spec_id) == (after.table_uuid, 0)
    assert [column.name for column in after.schema.columns] == ["id", "day", "note"]
    assert after.schema.schema_id != before.schema.schema_id
    assert (after.spec_id, after.partition_fields) == (1, (PartitionField("day", "day", "identity"),))
    state = WriterState.decoded(after.state)
    assert (state.schema.schema_id, state.spec.spec_id) == (after.schema.schema_id, 1)
    assert state.properties == {"write.data.path": "file:///there"}


def test_a_table_that_was_recreated_under_its_name_is_another_one(
    real: PyIcebergWritableTables, tmp_path: Path
) -> None:
    before = real.writable(NAME, MAIN)
    with closing(opened_by_others(tmp_path)) as catalog:
        catalog.drop_table("s.t")
        with pytest.raises(TableNotFound):
            real.writable(NAME, MAIN)
        # The schema and spec of the new table have the same ids as those of the dropped one.
        catalog.create_table("s.t", Schema(NestedField(1, "name", StringType())))
    after = real.writable(NAME, MAIN)
    assert after.table_uuid != before.table_uuid
    assert after.schema == TableSchema(0, (Field(1, "name", Primitive("string")),))
    state = WriterState.decoded(after.state)
    assert (state.schema.column_names, state.spec.fields, dict(state.properties)) == (["name"], (), {})


def test_the_state_has_what_a_writer_needs_and_nothing_of_the_catalogs_own(
    real: PyIcebergWritableTables,
) -> None:
    table = real.writable(NAME, MAIN)
    state = WriterState.decoded(table.state)
    assert state.properties == {"write.data.path": "file:///elsewhere"}
    assert dict(state.io_properties) == {"s3.secret-access-key": "hidden"}
    assert (state.spec.spec_id, state.sort_order.order_id) == (0, 1)
    assert "hidden" not in repr(table) + repr(state)
