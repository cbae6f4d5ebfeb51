"""Writes with their own sort orders: the files' metadata, their contents, and who can read the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from tests.integration.readers import by_pyiceberg, by_spark, data_files, named, path_of

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "kind", StringType()),
    NestedField(2, "id", LongType()),
    NestedField(3, "url", StringType()),
    NestedField(4, "score", LongType()),
)
BY_URL = [{"source": "url"}]
BY_SCORE = [{"source": "score", "direction": "desc"}, {"source": "id"}]
CLICKS = [{"kind": "click", "id": n, "url": f"/{n * 7 % 10}"} for n in range(10)]
SCORES = [{"kind": "score", "id": n, "score": n * 3 % 5} for n in range(10, 20)]


@pytest.fixture
def table(lake: SqlCatalog) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.t_{uuid4().hex}"
    yield lake.create_table(name, SCHEMA, properties={"format-version": "2"})
    lake.drop_table(name)


def targets(table: Table) -> dict[str, dict[str, Any]]:
    clicks = {"table": named(table), "writeSchema": ["kind", "id", "url"], "sortOrder": BY_URL}
    scores = {"table": named(table), "writeSchema": ["score", "id", "kind"], "sortOrder": BY_SCORE}
    return {"click": clicks, "score": scores}


def order_ids(response: httpx.Response) -> list[int | None]:
    assert response.status_code == 200, response.text
    [commit] = response.json()["commits"]
    return [target["sortOrderId"] for target in commit["writeTargets"]]


def assert_sorted_by_kind(gateway: httpx.Client, table: Table) -> None:
    """Asserts that each file has its kind's order and says so, while the table's default stays unsorted."""
    by_id = {
        order.order_id: [field.source_id for field in order.fields]
        for order in table.refresh().metadata.sort_orders
    }
    assert table.metadata.default_sort_order_id == 0
    for file in data_files(table):
        rows = pq.read_table(path_of(file)).to_pylist()
        if rows[0]["kind"] == "click":
            assert by_id[file.sort_order_id or 0] == [3]
            assert rows == sorted(rows, key=lambda row: row["url"])
        else:
            assert by_id[file.sort_order_id or 0] == [4, 2]
            assert rows == sorted(rows, key=lambda row: (-row["score"], row["id"]))
    found = by_spark(gateway, f"SELECT sort_order_id, count(*) AS n FROM {named(table)}.files GROUP BY 1")
    assert {row["sort_order_id"] for row in found} == {1, 2}
    expected = {row["id"]: row for row in (*CLICKS, *SCORES)}
    for read in (by_spark(gateway, f"SELECT * FROM {named(table)}"), by_pyiceberg(table)):
        assert {row["id"]: {k: v for k, v in row.items() if v is not None} for row in read} == expected


def test_each_kind_of_record_has_an_order_of_its_own_in_one_table(
    gateway: httpx.Client, table: Table
) -> None:
    writes = [
        {**target, "records": records}
        for target, records in zip(targets(table).values(), (CLICKS, SCORES), strict=True)
    ]
    assert order_ids(gateway.post("/ingest", json={"writes": writes})) == [1, 2]
    assert_sorted_by_kind(gateway, table)
    # The orders exist by now.
    assert order_ids(gateway.post("/ingest", json={"writes": writes[:1]})) == [1]
    assert len(table.refresh().metadata.sort_orders) == 3


def test_records_that_a_route_takes_apart_are_sorted_by_their_own_order(
    gateway: httpx.Client, table: Table, inbox: Path
) -> None:
    route = {"field": "kind", "to": targets(table)}
    mixed = [row for pair in zip(CLICKS, SCORES, strict=True) for row in pair]
    lines = "".join(json.dumps(row) + "\n" for row in mixed)
    half = lines.splitlines(keepends=True)
    response = gateway.post(
        "/ingest",
        params={"route": json.dumps(route)},
        content="".join(half[:10]),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert order_ids(response) == [1, 2]
    # Executors read this file.
    (inbox / "rows.ndjson").write_text("".join(half[10:]))
    source = {"uri": (inbox / "rows.ndjson").as_uri(), "format": "ndjson"}
    assert sorted(
        filter(None, order_ids(gateway.post("/ingest", json={"route": route, "source": source})))
    ) == [1, 2]
    assert_sorted_by_kind(gateway, table)


def test_a_body_of_records_has_its_order_in_the_query_string(gateway: httpx.Client, table: Table) -> None:
    query = {"table": named(table), "writeSchema": "kind,id,url", "sortOrder": json.dumps(BY_URL)}
    lines = "".join(json.dumps(click) + "\n" for click in CLICKS)
    response = gateway.post(
        "/ingest", params=query, content=lines, headers={"Content-Type": "application/x-ndjson"}
    )
    assert order_ids(response) == [1]
    refused = gateway.post(
        "/ingest",
        params={**query, "sortOrder": json.dumps(BY_SCORE)},
        content=lines,
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "WRITE_SCHEMA_INVALID")
    assert [error["rule"] for error in refused.json()["errors"]] == ["SORT_SOURCE_SKIPPED"]


def test_an_upsert_may_have_an_order_of_its_own(gateway: httpx.Client, table: Table) -> None:
    asked = {**targets(table)["score"], "mode": "upsert", "equalityFields": ["id"], "records": SCORES}
    for _ in range(2):
        assert order_ids(gateway.post("/ingest", json=asked)) == [1]
    rows = by_spark(gateway, f"SELECT id, score FROM {named(table)} ORDER BY id")
    assert rows == [{"id": score["id"], "score": score["score"]} for score in SCORES]
