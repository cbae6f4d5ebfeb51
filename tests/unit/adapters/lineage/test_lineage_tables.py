"""The facts of tables that events contain."""

from __future__ import annotations

from service.adapters.lineage.lineage_tables import KnownTables
from service.model.tables.tables import TableColumn, TableName
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table

SALES = TableName("lake", "shop", "sales")


def test_a_table_that_has_moved_is_reported_as_it_was_read() -> None:
    catalogs = FakeCatalogs(tables=[facts_of_empty_table(SALES, (TableColumn(1, "a", "int", False),))])
    catalogs.append(SALES, 1)
    catalogs.append(SALES, 1)
    found = KnownTables(catalogs).of([(SALES, 1), (SALES, 2), (SALES, None)])
    assert found.keys() == {(SALES, 1), (SALES, 2), (SALES, None)}


def test_a_table_is_asked_for_once_in_a_while_and_one_that_is_not_there_is_left_out() -> None:
    catalogs = FakeCatalogs(tables=[facts_of_empty_table(SALES)])
    tables, other = KnownTables(catalogs), TableName("lake", "shop", "gone")
    assert tables.of([(SALES, None), (other, 3)]).keys() == {(SALES, None)}
    catalogs.down.add("lake")
    assert tables.of([(SALES, None), (other, 3)]).keys() == {(SALES, None)}
    assert KnownTables(catalogs).of([(SALES, None)]) == {}
