"""The contract of creating and changing tables, checked on the fake, a SQL catalog and a REST catalog."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from uuid import uuid4

import pytest
from pyiceberg.table import Table
from pyiceberg.types import LongType, StringType

from service.adapters.commits.table_changes import PyIcebergTableChanges
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.errors.ingest_errors import CreationInvalid, SchemaMismatch
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import MAIN, WritableTable
from service.model.tables.schema_changes import AddField, MakeOptional, SchemaChange, WidenField
from service.model.tables.schemas import Field, ListOf, MapOf, Primitive, Struct, TableSchema
from service.model.tables.table_creation import TableCreation, TableLayout
from service.model.tables.tables import PartitionField, SortField, TableName
from service.ports.tables.table_changes import TableChanges, WritableTables
from tests.contract.catalogs.ahead import ALLOWED_MS, commit_ahead, goes_back_ms
from tests.contract.catalogs.lakehouse import PyIcebergLakehouse
from tests.fakes.table_changes import FakeTableChanges
from tests.fakes.writable_tables import FakeWritableTables

INT, LONG, STRING = Primitive("int"), Primitive("long"), Primitive("string")
# These field ids must not be kept.
COLUMNS = (
    Field(70, "id", INT, is_required=True, doc="who did it"),
    Field(30, "day", Primitive("date")),
    Field(20, "place", Struct((Field(60, "city", STRING, is_required=True), Field(50, "zip", INT)))),
    Field(9, "tags", ListOf(Field(8, "element", Struct((Field(7, "name", STRING),)), is_required=True))),
    Field(4, "counts", MapOf(Field(3, "key", STRING, is_required=True), Field(2, "value", INT))),
    Field(1, "price", Primitive("decimal(7, 2)")),
)
LAYOUT = TableLayout(
    (PartitionField("", "day", "month"), PartitionField("town", "place.city", "bucket[8]")),
    (
        SortField("id", "identity", "desc", "nulls-last"),
        SortField("place.zip", "identity", "asc", "nulls-first"),
    ),
    {"comment": "ours", "write.target-file-size-bytes": "1048576"},
)
CREATION = TableCreation(TableSchema(0, COLUMNS, frozenset({70})), LAYOUT)
NEW = AddField((), Field(0, "new", STRING, doc="later"))
REAL = [
    pytest.param("sql", marks=pytest.mark.integration),
    pytest.param("rest", marks=pytest.mark.integration),
]


class HookedTableChanges(PyIcebergTableChanges):
    """Calls a hook just before a change reaches the catalog."""

    before: Callable[[], object] = staticmethod(lambda: None)

    def _publish(self, table, updates, requirements) -> None:  # type: ignore[no-untyped-def]
        before, self.before = self.before, lambda: None
        before()
        super()._publish(table, updates, requirements)


class Place:
    """A catalog in which tables are created, with a new table name for each test."""

    def __init__(self, changes: TableChanges, tables: WritableTables) -> None:
        self.changes = changes
        self.tables = tables
        self.name = TableName("lake", f"new_{uuid4().hex[:8]}", "events")

    def table(self) -> WritableTable:
        return self.tables.writable(self.name, MAIN)

    def made(self) -> WritableTable:
        assert self.changes.create(self.name, CREATION)
        return self.table()

    def evolve(self, *changes: SchemaChange) -> WritableTable:
        assert self.changes.evolve(self.table(), changes)
        return self.table()


class RealPlace(Place):
    def __init__(self, lakehouse: PyIcebergLakehouse) -> None:
        self.lakehouse = lakehouse
        self.hooked = self.new_changes()
        super().__init__(self.hooked, PyIcebergWritableTables(lakehouse.catalogs))

    def new_changes(self) -> HookedTableChanges:
        return HookedTableChanges(self.lakehouse.catalogs, first_pause_s=0.001)

    def outside(self) -> Table:
        return self.lakehouse.outside.load_table((self.name.schema, self.name.table))


@pytest.fixture(params=["fake", *REAL])
def place(request: pytest.FixtureRequest) -> Place:
    if request.param == "fake":
        tables = FakeWritableTables()
        return Place(FakeTableChanges(tables), tables)
    return RealPlace(request.getfixturevalue(f"{request.param}_lakehouse"))


@pytest.fixture(params=REAL)
def real(request: pytest.FixtureRequest) -> RealPlace:
    return RealPlace(request.getfixturevalue(f"{request.param}_lakehouse"))


@pytest.fixture
def sql(request: pytest.FixtureRequest) -> RealPlace:
    """The SQL catalog alone, for tests where the kind of catalog does not matter."""
    return RealPlace(request.getfixturevalue("sql_lakehouse"))


def names(table: WritableTable) -> list[tuple[int, str]]:
    return [(column.field_id, column.name) for column in table.schema.columns]


def test_a_table_is_made_with_the_schemas_around_it(place: Place) -> None:
    assert place.changes.create(place.name, CREATION)
    table = place.table()
    assert [(column.name, column.is_required) for column in table.schema.columns] == [
        ("id", True),
        ("day", False),
        ("place", False),
        ("tags", False),
        ("counts", False),
        ("price", False),
    ]
    assert names(table)[0] == (1, "id")
    assert table.schema.identifier_field_ids == {1}
    assert (table.format_version, table.spec_id) == (2, 0)
    assert table.partition_fields == (
        PartitionField("day_month", "day", "month"),
        PartitionField("town", "place.city", "bucket[8]"),
    )
    assert table.sort_fields == LAYOUT.sort_fields


def test_a_table_that_is_there_is_not_made_again(place: Place) -> None:
    before = place.made()
    other = TableCreation(TableSchema(0, COLUMNS[:1]))
    assert not place.changes.create(place.name, other)
    assert (place.table().table_uuid, names(place.table())) == (before.table_uuid, names(before))


def test_a_table_without_a_layout_may_be_made_in_a_schema_that_is_there(place: Place) -> None:
    place.made()
    name = TableName("lake", place.name.schema, "others")
    assert place.changes.create(name, TableCreation(TableSchema(0, COLUMNS)))
    table = place.tables.writable(name, MAIN)
    assert (table.partition_fields, table.sort_fields, table.format_version) == ((), (), 2)


def test_all_changes_are_made_at_once_and_ids_are_given_by_the_table(place: Place) -> None:
    before = place.made()
    after = place.evolve(
        MakeOptional(("place", "city")),
        WidenField(("place", "zip"), "int", "long"),
        AddField(("place",), Field(0, "street", STRING)),
        MakeOptional(("tags", "element")),
        AddField(("tags", "element"), Field(0, "at", Primitive("timestamptz"))),
        WidenField(("counts", "value"), "int", "long"),
        WidenField(("price",), "decimal(7, 2)", "decimal(9, 2)"),
        NEW,
        AddField((), Field(0, "where", Struct((Field(0, "x", LONG, is_required=True), Field(0, "y", LONG))))),
    )
    assert after.schema.schema_id != before.schema.schema_id
    by_name = {column.name: column for column in after.schema.columns}
    assert [column.name for column in after.schema.columns[-2:]] == ["new", "where"]
    city, zip_code, street = by_name["place"].children
    assert (city.is_required, zip_code.type, street.name) == (False, LONG, "street")
    [element] = by_name["tags"].children
    assert (element.is_required, [child.name for child in element.children]) == (False, ["name", "at"])
    assert [child.type for child in by_name["counts"].children] == [STRING, LONG]
    assert by_name["price"].type == Primitive("decimal(9, 2)")
    assert [(child.name, child.is_required) for child in by_name["where"].children] == [
        ("x", True),
        ("y", False),
    ]
    assert (by_name["new"].is_required, by_name["new"].doc) == (False, "later")
    assert names(after)[: len(COLUMNS)] == names(before)
    assert min(by_name["new"].field_id, by_name["where"].field_id, street.field_id) > 12
    assert len({by_name["new"].field_id, by_name["where"].field_id, street.field_id}) == 3
    assert after.schema.identifier_field_ids == before.schema.identifier_field_ids


def test_a_schema_that_is_another_by_now_is_not_changed(place: Place) -> None:
    before = place.made()
    after = place.evolve(NEW)
    assert not place.changes.evolve(before, [AddField((), Field(0, "more", STRING))])
    assert names(place.table()) == names(after)


def test_a_table_that_is_gone_is_reported(place: Place) -> None:
    table = place.made()
    if isinstance(place, RealPlace):
        place.lakehouse.outside.drop_table((place.name.schema, place.name.table))
    else:
        assert isinstance(place.tables, FakeWritableTables)
        place.tables.drop(place.name)
    with pytest.raises(TableNotFound):
        place.changes.evolve(table, [NEW])


def test_a_catalog_that_is_down_is_reported(place: Place) -> None:
    table = place.made()
    if isinstance(place, RealPlace):
        place.lakehouse.stop()
    else:
        assert isinstance(place.tables, FakeWritableTables)
        place.tables.is_down = True
    try:
        with pytest.raises(CatalogDown):
            place.changes.evolve(table, [NEW])
        with pytest.raises(CatalogDown):
            place.changes.create(TableName("lake", place.name.schema, "others"), CREATION)
    finally:
        if isinstance(place, RealPlace):
            place.lakehouse.start()


def test_a_new_table_has_its_properties_and_lies_in_the_warehouse(real: RealPlace) -> None:
    real.made()
    table = real.outside()
    assert table.properties["comment"] == "ours"
    assert table.properties["write.target-file-size-bytes"] == "1048576"
    assert "format-version" not in table.properties
    assert table.location().endswith(f"{real.name.schema}/events")
    assert table.schema().find_field("id").doc == "who did it"


def test_a_schema_of_several_levels_is_made(real: RealPlace) -> None:
    name = TableName("lake", f"{real.name.schema}.a.b", "t")
    assert real.changes.create(name, CREATION)
    assert real.tables.writable(name, MAIN).format_version == 2


def test_of_many_who_make_a_table_at_once_one_does(real: RealPlace) -> None:
    barrier = Barrier(4)

    def make(_: int) -> bool:
        changes = real.new_changes()
        barrier.wait(10)
        return changes.create(real.name, CREATION)

    with ThreadPoolExecutor(4) as makers:
        assert sorted(makers.map(make, range(4))) == [False, False, False, True]


def test_a_commit_of_data_in_between_does_not_hinder(sql: RealPlace) -> None:
    table = sql.made()
    sql.hooked.before = lambda: sql.outside().transaction().set_properties(a="b").commit_transaction()
    assert sql.changes.evolve(table, [NEW])
    assert sql.outside().properties["a"] == "b"
    assert "new" in dict(map(reversed, names(sql.table())))  # type: ignore[arg-type]


def test_a_schema_that_changes_in_between_is_not_changed_again(real: RealPlace) -> None:
    table = real.made()

    def other() -> None:
        with real.outside().update_schema() as update:
            update.add_column("new", LongType())

    real.hooked.before = other
    assert not real.changes.evolve(table, [NEW])
    assert [column.type for column in real.table().schema.columns if column.name == "new"] == [LONG]


def test_an_id_that_was_given_and_taken_back_in_between_is_not_given_again(real: RealPlace) -> None:
    table = real.made()
    given: list[int] = []

    def other() -> None:
        with real.outside().update_schema() as update:
            update.add_column("gone", StringType())
        given.append(real.outside().schema().find_field("gone").field_id)
        with real.outside().update_schema() as update:
            update.delete_column("gone")

    real.hooked.before = other
    assert real.outside().schema().schema_id == table.schema.schema_id
    while not real.changes.evolve(table, [NEW]):
        table = real.table()
    [new_id] = [field_id for field_id, name in names(real.table()) if name == "new"]
    assert new_id not in given


def test_what_iceberg_refuses_is_reported(sql: RealPlace) -> None:
    table = sql.made()
    with pytest.raises(SchemaMismatch, match="place"):
        sql.changes.evolve(table, [AddField((), Field(0, "place", STRING))])


def test_a_table_that_cannot_be_made_is_reported_before_and_when_it_is_to_be_made(place: Place) -> None:
    nowhere = TableName("nowhere", "s", "t")
    others = replace(place.name, table="others")
    optional_identifier = TableCreation(TableSchema(0, COLUMNS, frozenset({30})))
    for refused in (place.changes.check_creation, place.changes.create):
        with pytest.raises(CreationInvalid, match="no catalog nowhere"):
            refused(nowhere, CREATION)
        with pytest.raises(CreationInvalid, match="cannot be created"):
            refused(others, optional_identifier)
    place.changes.check_creation(others, CREATION)
    assert place.changes.create(others, CREATION)


BY_ID = SortField("id", "identity", "desc", "nulls-last")
BY_ZIP = SortField("place.zip", "truncate[10]", "asc", "nulls-first")
ORDERS = [(BY_ID,), (BY_ZIP, BY_ID)]


def orders(table: WritableTable) -> list[tuple[SortField, ...]]:
    return [order.fields for order in table.sort_orders]


def test_sort_orders_are_made_known_beside_the_default_one(place: Place) -> None:
    table = place.made()
    assert orders(table) == [LAYOUT.sort_fields]
    assert place.changes.add_sort_orders(table, ORDERS)
    now = place.table()
    assert orders(now) == [LAYOUT.sort_fields, *ORDERS]
    assert len({order.order_id for order in now.sort_orders}) == 3
    assert now.sort_fields == table.sort_fields
    # The caller still has the table as it was, so the catalog must not add the orders twice.
    assert not place.changes.add_sort_orders(table, ORDERS[:1])
    assert orders(place.table()) == orders(now)


def test_a_table_without_an_order_gets_none_by_default(place: Place) -> None:
    place.changes.create(place.name, TableCreation(TableSchema(0, COLUMNS[:1])))
    assert place.changes.add_sort_orders(place.table(), [(BY_ID,)])
    assert (place.table().sort_fields, orders(place.table())) == ((), [(BY_ID,)])


def test_an_order_that_rows_cannot_be_in_is_reported_by_the_catalog(place: Place) -> None:
    table = place.made()
    for wrong in (replace(BY_ID, source="nobody"), replace(BY_ID, transform="year")):
        with pytest.raises(SchemaMismatch):
            place.changes.add_sort_orders(table, [(wrong,)])
    assert orders(place.table()) == orders(table)


def test_an_order_is_not_added_to_another_schema(place: Place) -> None:
    table = place.made()
    place.evolve(NEW)
    assert not place.changes.add_sort_orders(table, ORDERS)
    assert place.changes.add_sort_orders(place.table(), ORDERS)


@pytest.mark.parametrize("other", [ORDERS[:1], ORDERS[1:], [(replace(BY_ID, direction="asc"),)]])
def test_orders_that_are_added_in_between_have_ids_of_their_own(
    real: RealPlace, other: list[tuple[SortField, ...]]
) -> None:
    table = real.made()
    # The other change goes through the same catalog, so the catalog's own check sees it.
    real.hooked.before = lambda: real.new_changes().add_sort_orders(table, other)
    missing = ORDERS
    while missing:
        real.changes.add_sort_orders(real.table(), missing)
        missing = [order for order in ORDERS if order not in orders(real.table())]
    known = real.outside().metadata.sort_orders
    assert len({sort_order.order_id for sort_order in known}) == len(known)
    assert sorted(map(str, orders(real.table()))) == sorted(
        {str(order) for order in (LAYOUT.sort_fields, *other, *ORDERS)}
    )


def test_a_change_comes_after_a_commit_of_a_machine_whose_clock_is_ahead(sql: RealPlace) -> None:
    sql.made()
    table = sql.outside()
    table.append(table.schema().as_arrow().empty_table())
    ahead_ms = commit_ahead(table)
    sql.evolve(NEW)
    orders = [(SortField("id", "identity", "asc", "nulls-first"),)]
    assert sql.changes.add_sort_orders(sql.table(), orders)
    metadata = sql.outside().metadata
    assert metadata.last_updated_ms == ahead_ms + 2
    assert goes_back_ms(metadata) <= ALLOWED_MS
