"""Ingests into tables of both format versions, into branches and changing specs, in all readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import DateType, LongType, NestedField, StringType

from tests.integration.readers import Row, assert_read_alike, by_spark, data_files, named, path_of

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "day", DateType()), NestedField(3, "note", StringType())
)
BY_ID = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "id_bucket"))
DAY, ANSWERED_DAY = "2026-01-31", date(2026, 1, 31)

NewTable = Callable[..., Table]


@pytest.fixture
def new_table(lake: SqlCatalog) -> Iterator[NewTable]:
    """Makes tables that are dropped with the test."""
    lake.create_namespace_if_not_exists("laid")
    names: list[str] = []

    def make(version: int = 2, spec: PartitionSpec = BY_ID) -> Table:
        names.append(f"laid.t_{uuid4().hex}")
        return lake.create_table(
            names[-1], SCHEMA, partition_spec=spec, properties={"format-version": str(version)}
        )

    yield make
    for name in names:
        lake.drop_table(name)


def sent(gateway: httpx.Client, *writes: dict[str, Any]) -> list[dict[str, Any]]:
    response = gateway.post("/ingest", json={"writes": writes})
    assert response.status_code == 200, response.text
    commits: list[dict[str, Any]] = response.json()["commits"]
    return commits


def write(table: Table, *ids: int, **more: Any) -> dict[str, Any]:
    return {"table": named(table), "records": [{"id": id_, "day": DAY} for id_ in ids]} | more


def reported(*ids: int) -> list[Row]:
    return [{"id": id_, "day": ANSWERED_DAY, "note": None} for id_ in ids]


def test_one_request_goes_to_tables_of_both_format_versions(
    gateway: httpx.Client, new_table: NewTable
) -> None:
    tables = [new_table(version) for version in (1, 2)]
    commits = sent(gateway, *(write(table, 1, 2, 3, writeSchema=["day", "id"]) for table in tables))
    assert [commit["addedRecords"] for commit in commits] == [3, 3]
    for version, table in enumerate(tables, start=1):
        assert_read_alike(gateway, table, reported(1, 2, 3))
        assert table.metadata.format_version == version


def test_a_table_of_version_3_takes_records_and_keeps_its_columns(
    gateway: httpx.Client, lake: SqlCatalog, new_table: NewTable
) -> None:
    table = new_table()
    path = Path(table.metadata_location.removeprefix("file://"))
    newer = path.with_name(f"00001-{uuid4()}.metadata.json")
    # PyIceberg itself cannot write this version.
    metadata = json.loads(path.read_text("utf-8")) | {"format-version": 3, "next-row-id": 0}
    newer.write_text(json.dumps(metadata), "utf-8")
    name = f"laid.newer_{uuid4().hex}"
    lake.register_table(name, newer.as_uri())
    try:
        to_newer = {"table": f"lake.{name}"}
        commits = sent(gateway, write(table, 1, 2), write(table, 3, 4, writeSchema=["day", "id"]) | to_newer)
        assert [commit["addedRecords"] for commit in commits] == [2, 2]
        assert_read_alike(gateway, table, reported(1, 2))
        assert_read_alike(gateway, lake.load_table(name), reported(3, 4))
        numbers = by_spark(gateway, f"SELECT _row_id AS n FROM lake.{name} ORDER BY id")
        assert sorted(row["n"] for row in numbers) == [0, 1]
        upsert = {"mode": "upsert", "equalityFields": ["id"], "records": [{"id": 3, "note": "new"}]}
        sent(gateway, to_newer | upsert)
        expected = [{"id": 3, "day": None, "note": "new"}, *reported(4)]
        assert by_spark(gateway, f"SELECT * FROM lake.{name} ORDER BY id") == expected
        assert lake.load_table(name).scan().to_arrow().sort_by("id").to_pylist() == expected
        facts = gateway.get(f"/tables/lake.{name}").json()
        assert (facts["formatVersion"], facts["recordCount"]) == (3, 2)
        schema = {"type": "struct", "fields": [{"name": "id", "type": "long"}, {"name": "x", "type": "long"}]}
        more = {"schema": schema, "evolve": True, "records": [{"id": 5, "x": 1}]}
        refused = gateway.post("/ingest", json=to_newer | more)
        assert (refused.status_code, refused.json()["code"]) == (422, "INGEST_INVALID")
        assert "format version 3; columns and sort orders" in refused.json()["detail"]
        assert lake.load_table(name).schema().column_names == ["id", "day", "note"]
    finally:
        lake.drop_table(name)


def test_branches_of_one_request_are_read_apart(gateway: httpx.Client, new_table: NewTable) -> None:
    table = new_table()
    sent(gateway, write(table, 1))
    commits = sent(gateway, write(table, 2), write(table, 3, branch="audit"), write(table, 4, branch="audit"))
    assert [(commit["branch"], commit["addedRecords"]) for commit in commits] == [("main", 1), ("audit", 2)]
    assert_read_alike(gateway, table, reported(1, 2))
    sql = f"SELECT id FROM {named(table)} VERSION AS OF 'audit' ORDER BY id"
    # A new branch starts with what `main` has then, before or after the request's other commit.
    ids = [row["id"] for row in by_spark(gateway, sql)]
    assert [id_ for id_ in ids if id_ != 2] == [1, 3, 4]
    scanned = table.refresh().scan().use_ref("audit").to_arrow()["id"].to_pylist()
    assert sorted(scanned) == ids


@pytest.mark.parametrize("version", [1, 2])
def test_files_are_of_the_spec_that_the_table_has_by_then(
    gateway: httpx.Client, new_table: NewTable, version: int
) -> None:
    table = new_table(version)
    sent(gateway, write(table, 1, 2))
    with table.update_spec() as update:
        update.add_identity("day")
    sent(gateway, write(table, 3))
    with table.update_spec() as update:
        update.remove_field("id_bucket")
    # The source of a removed partition field need not be written.
    sent(gateway, write(table, 4), write(table, 5, writeSchema=["id", "day"]))
    refused = gateway.post("/ingest", json=write(table, 6, writeSchema=["id"]))
    assert [error["field"] for error in refused.json()["errors"]] == ["day"]
    with table.update_spec() as update:
        update.remove_field("day")
    sent(gateway, write(table, 6) | {"writeSchema": ["id"], "records": [{"id": 6}]})
    assert_read_alike(gateway, table, [*reported(1, 2, 3, 4, 5), {"id": 6, "day": None, "note": None}])
    specs = {file.spec_id: 0 for file in data_files(table)}
    assert len(specs) == 4
    for number in range(1, 7):
        sql = f"SELECT id FROM {named(table)} WHERE id = {number}"
        assert [row["id"] for row in by_spark(gateway, sql)] == [number]
        assert table.scan(row_filter=f"id = {number}").to_arrow()["id"].to_pylist() == [number]
    assert sorted(table.scan(row_filter=f"day = '{DAY}'").to_arrow()["id"].to_pylist()) == [1, 2, 3, 4, 5]


def test_a_schema_in_another_order_moves_no_value(gateway: httpx.Client, new_table: NewTable) -> None:
    table = new_table(spec=PartitionSpec())
    fields = [("more", "string"), ("note", "string"), ("day", "date"), ("id", "long")]
    schema = {"type": "struct", "fields": [{"name": name, "type": kind} for name, kind in fields]}
    sent(gateway, write(table, 1))
    record = {"more": "m", "note": "n", "day": DAY, "id": 2}
    sent(gateway, {"table": named(table), "schema": schema, "evolve": True, "records": [record]})
    sent(gateway, write(table, 3, writeSchema="infer"))
    one, two, three = reported(1, 2, 3)
    expected = [one | {"more": None}, two | {"note": "n", "more": "m"}, three | {"more": None}]
    assert_read_alike(gateway, table, expected)
    assert table.schema().column_names == ["id", "day", "note", "more"]


def test_bloom_filters_that_a_table_asks_for_are_in_the_files_that_have_its_columns(
    gateway: httpx.Client, lake: SqlCatalog
) -> None:
    name = f"laid_{uuid4().hex[:8]}.filtered"
    inner = {
        "type": "struct",
        "fields": [{"name": "city", "type": "string"}, {"name": "zip", "type": "long"}],
    }
    fields = [
        {"name": "id", "type": "long"},
        {"name": "note", "type": "string"},
        {"name": "at", "type": inner},
    ]
    asked = {f"write.parquet.bloom-filter-enabled.column.{column}": "true" for column in ("note", "at.zip")}
    first = {"table": f"lake.{name}", "schema": {"type": "struct", "fields": fields}}
    first |= {"create": {"properties": asked}}
    record: dict[str, Any] = {"id": 1, "note": "a", "at": {"city": "Ulm", "zip": 89073}}
    schemas = {("id", "note"): {"note"}, ("at.zip", "id"): {"at, zip"}, ("at.city", "id"): set[str]()}
    for columns in schemas:
        given = {column: record[column] for column in ("id", "note") if column in columns}
        part = {column[3:]: record["at"][column[3:]] for column in columns if column.startswith("at.")}
        sent(gateway, first | {"writeSchema": columns, "records": [given | ({"at": part} if part else {})]})
    found = {with_filters(path_of(file)) for file in data_files(lake.load_table(name))}
    assert found == {frozenset(schema) for schema in schemas.values()}


def with_filters(path: str) -> frozenset[str]:
    """Returns the columns with a bloom filter, as DuckDB names them."""
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT path_in_schema FROM parquet_metadata(?) WHERE bloom_filter_offset IS NOT NULL", [path]
        ).fetchall()
    return frozenset(str(row[0]) for row in found)
