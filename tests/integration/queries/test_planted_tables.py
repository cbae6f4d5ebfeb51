"""Names that Iceberg reads as a table's metadata or version never denote a separate table."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.model.tables.reserved_names import METADATA_TABLES
from tests.integration.asking import JsonObject, ask, post, problem, rows
from tests.integration.made_views import make_view

pytestmark = pytest.mark.integration

VERSIONS = ("branch_x", "tag_x", "snapshot_id_1", "at_timestamp_1")
OWN_ROWS = pa.table({"k": pa.array([1, 2], pa.int32())})
PLANTED_ROWS = pa.table({"k": pa.array([666], pa.int32())})
ALWAYS = {"dynamicFiltering": {"minTableBytes": 0}}


def creation(table: str) -> JsonObject:
    schema = {"type": "struct", "fields": [{"name": "k", "type": "int"}]}
    return {"table": table, "records": [{"k": 1}], "schema": schema, "create": {}}


@pytest.mark.parametrize("last", [*METADATA_TABLES, *VERSIONS])
def test_no_table_is_made_under_such_a_name(gateway: httpx.Client, last: str) -> None:
    for name in (last, last.upper(), last.title()):
        for schema in ("shop", "shop.sales", "nowhere.yet"):
            table = f"lake.{schema}.{name}"
            found = problem(gateway.post("/ingest", json=creation(table)), 422, "CREATION_INVALID")
            assert any(error["pointer"] == "/table" and name in error["detail"] for error in found["errors"])
            problem(gateway.get(f"/tables/{table}"), 404, "TABLE_NOT_FOUND")
            plain = {"table": table, "records": [{"k": 1}]}
            problem(gateway.post("/ingest", json=plain), 404, "TABLE_NOT_FOUND")


def test_no_schema_is_called_like_a_table(gateway: httpx.Client) -> None:
    for schema in ("shop.sales", "shop.sales.deep"):
        response = gateway.post("/ingest", json=creation(f"lake.{schema}.others"))
        assert "lake.shop.sales is a table" in problem(response, 422, "CREATION_INVALID")["detail"]
    assert rows(gateway, "SELECT count(*) > 0 FROM lake.shop.sales.files") == [[True]]


@pytest.fixture
def item(lake: SqlCatalog, new_name: str) -> Iterator[str]:
    """A table with two rows and a branch, and a schema of the same name, as other engines can create them."""
    lake.create_namespace(new_name)
    table = lake.create_table(new_name, OWN_ROWS.schema)
    table.append(OWN_ROWS)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    table.manage_snapshots().create_branch(snapshot.snapshot_id, "own").commit()
    yield new_name
    for identifier in lake.list_tables(new_name):
        lake.drop_table(identifier)
    lake.drop_table(new_name)


def assert_ambiguous(gateway: httpx.Client, name: str) -> None:
    texts = (
        f"SELECT * FROM {name}",
        f"SELECT 1 WHERE (SELECT max(k) FROM {name}) > 0",
        f"WITH a AS (SELECT * FROM {name}) SELECT 1 FROM a, a AS b",
        f"SELECT amount FROM shop.sales JOIN {name} AS p ON day_key = p.k WHERE p.k > 600",
        f"SELECT amount FROM shop.sales WHERE day_key IN (SELECT k FROM {name})",
    )
    for sql in texts:
        assert name in problem(post(gateway, sql, **ALWAYS), 409, "TABLE_AMBIGUOUS")["detail"]
    problem(gateway.post("/explain", json={"sql": texts[0]}), 409, "TABLE_AMBIGUOUS")


@pytest.mark.parametrize(
    "last", ["files", "Snapshots", "branch_x", "TAG_X", "snapshot_id_1", "at_timestamp_1"]
)
def test_a_planted_table_is_neither_read_nor_written(
    gateway: httpx.Client, lake: SqlCatalog, item: str, last: str
) -> None:
    name = f"lake.{item}.{last}"
    table = lake.create_table(f"{item}.{last}", PLANTED_ROWS.schema)
    table.append(PLANTED_ROWS)
    assert_ambiguous(gateway, name)
    assert name in problem(gateway.get(f"/tables/{name}"), 409, "TABLE_AMBIGUOUS")["detail"]
    for body in ({"table": name, "records": [{"k": 1}]}, creation(name)):
        problem(gateway.post("/ingest", json=body), 409, "TABLE_AMBIGUOUS")
    assert table.refresh().scan().to_arrow() == PLANTED_ROWS
    assert rows(gateway, f"SELECT record_count FROM lake.{item}.data_files") == [[2]]
    assert rows(gateway, f"SELECT k FROM lake.{item}.branch_own ORDER BY k") == [[1], [2]]
    assert rows(gateway, f"SELECT count(*) FROM lake.{item}") == [[2]]


@pytest.mark.parametrize("last", ["files", "History"])
def test_metadata_is_read_before_a_view(
    gateway: httpx.Client, lake: SqlCatalog, item: str, last: str
) -> None:
    make_view(lake, f"{item}.{last}", "SELECT 666 AS k", {"k": "int"})
    assert rows(gateway, f"SELECT count(*) FROM lake.{item}.{last}", **ALWAYS) == [[1]]
    problem(post(gateway, f"SELECT k FROM lake.{item}.{last}", **ALWAYS), 422, "COLUMN_NOT_FOUND")


@pytest.mark.parametrize("last", ["branch_x", "tag_x", "snapshot_id_1", "at_timestamp_1"])
def test_a_version_that_is_not_there_is_no_view(
    gateway: httpx.Client, lake: SqlCatalog, item: str, last: str
) -> None:
    make_view(lake, f"{item}.{last}", "SELECT 666 AS k", {"k": "int"})
    problem(post(gateway, f"SELECT * FROM lake.{item}.{last}", **ALWAYS), 422, "QUERY_FAILED")


def test_a_planted_view_is_not_read(gateway: httpx.Client, lake: SqlCatalog, item: str) -> None:
    # Iceberg recognizes a version only in lower case, and otherwise looks for a view.
    make_view(lake, f"{item}.TAG_x", "SELECT 666 AS k", {"k": "int"})
    assert_ambiguous(gateway, f"lake.{item}.TAG_x")
    over = f"shop.over_{item.partition('.')[2]}"
    make_view(lake, over, f"SELECT k FROM lake.{item}.TAG_x", {"k": "int"})
    problem(post(gateway, f"SELECT * FROM {over}", **ALWAYS), 409, "TABLE_AMBIGUOUS")


def test_where_no_table_has_the_schemas_name_its_tables_are_read(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str
) -> None:
    lake.create_namespace(new_name)
    for last in ("files", "branch_x"):
        lake.create_table(f"{new_name}.{last}", OWN_ROWS.schema).append(OWN_ROWS)
        name = f"lake.{new_name}.{last}"
        answer = ask(gateway, f"SELECT k FROM {name} WHERE k > 1", **ALWAYS)
        assert answer["result"]["rows"] == [[2]]
        assert gateway.get(f"/tables/{name}").status_code == 200
