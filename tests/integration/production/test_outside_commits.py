"""A commit of another writer is visible to the very next query."""

from __future__ import annotations

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.types import IntegerType

from tests.integration.asking import ask, post, problem, rows
from tests.integration.guarded import Guarded
from tests.integration.lakehouse import RETURNS, make, returns_row

pytestmark = pytest.mark.integration


@pytest.fixture(params=["lake", "rest"])
def catalog(request: pytest.FixtureRequest, guarded: Guarded) -> Catalog:
    return guarded.lake if request.param == "lake" else guarded.rest


def test_a_commit_is_seen_by_the_very_next_query(guarded: Guarded, catalog: Catalog, new_name: str) -> None:
    table = make(catalog, new_name, RETURNS)
    sql = f"SELECT count(*), max(return_id) FROM {catalog.name}.{new_name}"
    assert rows(guarded.alice, sql) == [[0, None]]
    for commit in range(1, 6):
        table.append(returns_row(commit))
        assert rows(guarded.alice, sql) == [[commit, commit]]
        described = guarded.alice.get(f"/tables/{catalog.name}.{new_name}").json()
        assert described["recordCount"] == commit
    table.delete()
    assert rows(guarded.alice, sql) == [[0, None]]


def test_a_new_column_is_seen_by_the_very_next_query(
    guarded: Guarded, catalog: Catalog, new_name: str
) -> None:
    table = make(catalog, new_name, RETURNS)
    sql = f"SELECT * FROM {catalog.name}.{new_name}"
    assert len(ask(guarded.alice, sql)["manifest"]["columns"]) == 2
    with table.update_schema() as update:
        update.add_column("added", IntegerType())
    assert [column["name"] for column in ask(guarded.alice, sql)["manifest"]["columns"]][2] == "added"


def test_a_table_comes_and_goes_with_its_catalog(guarded: Guarded, catalog: Catalog, new_name: str) -> None:
    name = f"{catalog.name}.{new_name}"
    problem(post(guarded.alice, f"SELECT * FROM {name}"), 404, "TABLE_NOT_FOUND")
    make(catalog, new_name, RETURNS)
    assert rows(guarded.alice, f"SELECT * FROM {name}") == []
    assert name in [table["name"] for table in guarded.alice.get("/tables").json()["tables"]]
    catalog.drop_table(new_name)
    problem(post(guarded.alice, f"SELECT * FROM {name}"), 404, "TABLE_NOT_FOUND")
    problem(guarded.alice.get(f"/tables/{name}"), 404, "TABLE_NOT_FOUND")


def test_an_earlier_snapshot_can_be_asked_for(guarded: Guarded, catalog: Catalog, new_name: str) -> None:
    table = make(catalog, new_name, RETURNS)
    table.append(returns_row(1))
    first = table.current_snapshot()
    assert first is not None
    table.append(returns_row(2))
    sql = f"SELECT sum(return_id) FROM {catalog.name}.{new_name}"
    assert rows(guarded.alice, f"{sql} VERSION AS OF {first.snapshot_id}") == [[1]]
    assert rows(guarded.alice, sql) == [[3]]


def test_tables_of_two_catalogs_are_joined(guarded: Guarded, new_name: str) -> None:
    for catalog, ids in ((guarded.lake, (1, 2, 3)), (guarded.rest, (2, 3, 4))):
        table = make(catalog, new_name, RETURNS)
        for id_ in ids:
            table.append(returns_row(id_))
    answer = ask(
        guarded.alice,
        f"SELECT a.return_id FROM lake.{new_name} a JOIN rest.{new_name} b ON a.return_id = b.return_id"
        " ORDER BY 1",
    )
    assert answer["result"]["rows"] == [[2], [3]]
    assert answer["pruning"]["dataFiles"]["total"] == 6
