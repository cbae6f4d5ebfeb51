"""Compaction keeps write schemas apart: same rows, few files, and no additional columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from uuid import uuid4

import httpx
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, StructType

from tests.integration.maintenance_calls import compact
from tests.integration.readers import Row, by_id, by_pyiceberg, by_spark, data_files, named, path_of

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "kind", StringType()),
    NestedField(3, "url", StringType()),
    NestedField(4, "score", DoubleType()),
    NestedField(
        5, "place", StructType(NestedField(7, "city", StringType()), NestedField(8, "zip", LongType()))
    ),
    *(NestedField(100 + number, f"other_{number}", StringType()) for number in range(8)),
)
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
CLICK, SCORE, PLACE, NO_KEY = (
    ["kind", "url", "id"],
    ["score", "id", "kind"],
    ["id", "place.zip", "kind"],
    ["kind", "url"],
)
Columns = tuple[str, ...]


@pytest.fixture(params=[UNPARTITIONED_PARTITION_SPEC, BY_KIND], ids=["flat", "by kind"])
def table(lake: SqlCatalog, request: pytest.FixtureRequest) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("compacted")
    name = f"compacted.t_{uuid4().hex}"
    yield lake.create_table(name, SCHEMA, partition_spec=request.param, properties={"format-version": "2"})
    lake.drop_table(name)


def send(gateway: httpx.Client, table: Table, columns: list[str], *records: Row, **more: Any) -> None:
    body = {"table": named(table), "writeSchema": columns, "records": records, **more}
    response = gateway.post("/ingest", json=body)
    assert response.status_code == 200, response.text


def fill(gateway: httpx.Client, table: Table) -> None:
    by_url = [{"source": "url", "direction": "desc"}]
    for n in range(6):
        clicks = [{"id": 100 * n + i, "kind": "click", "url": f"/{i * 7 % 10}"} for i in range(10)]
        send(gateway, table, CLICK, *clicks, sortOrder=by_url)
        numbers = [float(n), "NaN" if n % 2 else None]
        scores = [
            {"id": 1000 + 10 * n + i, "kind": "score", "score": number} for i, number in enumerate(numbers)
        ]
        send(gateway, table, SCORE, *scores)
        send(gateway, table, PLACE, {"id": 2000 + n, "kind": "place", "place": {"zip": n}})


def columns_of(table: Table) -> list[Columns]:
    return [tuple(pq.read_schema(path_of(file)).names) for file in data_files(table)]


def rows(gateway: httpx.Client, table: Table) -> Counter[str]:
    """Returns the count of each row, as some rows have no id."""
    return Counter(repr(sorted(row.items())) for row in by_spark(gateway, f"SELECT * FROM {named(table)}"))


def assert_nothing_but_fewer_files(
    gateway: httpx.Client, table: Table, before: Counter[str], had: set[Columns]
) -> None:
    assert rows(gateway, table) == before
    assert Counter(repr(sorted(row.items())) for row in by_pyiceberg(table)) == before
    assert set(columns_of(table)) <= had


def test_files_of_each_write_schema_are_joined_by_themselves(gateway: httpx.Client, table: Table) -> None:
    fill(gateway, table)
    before, had = rows(gateway, table), set(columns_of(table))
    skipped = table.schema().find_field("other_0").field_id
    assert len(had) == 3
    counts = compact(gateway, table)
    assert (counts["rewrittenDataFiles"], counts["addedDataFiles"], counts["writeSchemas"]) == (18, 3, 3)
    assert_nothing_but_fewer_files(gateway, table, before, had)
    assert Counter(columns_of(table)) == dict.fromkeys(had, 1)
    for file in data_files(table):
        compacted = pq.read_table(path_of(file))
        order = table.metadata.sort_order_by_id(file.sort_order_id or 0)
        if "url" in compacted.column_names:
            assert order is not None
            assert [field.source_id for field in order.fields] == [3]
            urls = compacted["url"].to_pylist()
            assert all(first >= second for first, second in pairwise(urls))
        else:
            assert file.sort_order_id == 0
        # The metadata still says that a skipped column is NULL in the whole file.
        counts_of = (file.value_counts[skipped], file.null_value_counts[skipped])
        assert counts_of == (file.record_count, file.record_count)
    # There is nothing left to do.
    assert compact(gateway, table)["rewrittenDataFiles"] == 0


def test_what_upserts_replaced_goes_with_their_deletes_whatever_columns_the_files_have(
    gateway: httpx.Client, table: Table
) -> None:
    fill(gateway, table)
    keys = {"mode": "upsert", "equalityFields": ["id", "kind"]}
    send(
        gateway,
        table,
        CLICK,
        *({"id": number, "kind": "click", "url": "new"} for number in range(0, 600, 7)),
        **keys,
    )
    send(gateway, table, SCORE, {"id": 1000, "kind": "score", "score": 0.5}, **keys)
    # Without the key column, these rows have a NULL key, and a delete of that key removes them.
    send(gateway, table, NO_KEY, {"kind": "click", "url": "keyless"})
    send(gateway, table, CLICK, {"id": None, "kind": "click", "url": "no id"}, **keys)
    before, had = rows(gateway, table), set(columns_of_all(table))
    assert not [row for row in before if "keyless" in row]
    counts = compact(gateway, table)
    assert counts["removedDeleteFiles"] > 0
    assert_nothing_but_fewer_files(gateway, table, before, had)
    snapshot = table.refresh().current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary["total-delete-files"] == "0"


def columns_of_all(table: Table) -> list[Columns]:
    """Returns the columns of all files, also of tables with deletes, which PyIceberg cannot scan."""
    found = table.refresh().inspect.data_files().to_pylist()
    return [tuple(pq.read_schema(file["file_path"].removeprefix("file://")).names) for file in found]


def test_columns_that_came_and_went_are_not_written_again(gateway: httpx.Client, table: Table) -> None:
    fill(gateway, table)
    with table.update_schema() as update:
        update.delete_column("url").rename_column("score", "points").add_column("later", LongType())
    for n in range(6):
        send(gateway, table, ["id", "later", "kind"], {"id": 3000 + n, "kind": "later", "later": n})
    before = rows(gateway, table)
    compact(gateway, table)
    assert rows(gateway, table) == before
    assert Counter(columns_of(table)) == {
        ("kind", "id"): 1,
        ("points", "id", "kind"): 1,
        ("id", "place", "kind"): 1,
        ("id", "later", "kind"): 1,
    }


def test_files_of_an_earlier_spec_are_written_for_the_present_one(
    gateway: httpx.Client, table: Table
) -> None:
    fill(gateway, table)
    with table.update_spec() as spec:
        spec.add_field("url", BucketTransform(2), "url_bucket")
    before = by_id(by_spark(gateway, f"SELECT * FROM {named(table)}"))
    compact(gateway, table)
    assert by_id(by_spark(gateway, f"SELECT * FROM {named(table)}")) == before
    assert {file.spec_id for file in data_files(table)} == {table.spec().spec_id}
    # The new partition source is written too, and no other column.
    assert set(columns_of(table)) == {
        ("kind", "url", "id"),
        ("score", "id", "kind", "url"),
        ("id", "place", "kind", "url"),
    }


def test_files_need_no_column_that_the_table_was_partitioned_by_once(
    gateway: httpx.Client, table: Table
) -> None:
    with table.update_spec() as spec:
        spec.add_field("url", BucketTransform(2), "url_bucket")
    send(gateway, table, ["id", "kind", "url"], {"id": 1, "kind": "click", "url": "/"})
    with table.update_spec() as spec:
        spec.remove_field("url_bucket")
    for n in range(6):
        send(gateway, table, SCORE, {"id": 1000 + n, "kind": "score", "score": float(n)})
    before = rows(gateway, table)
    compact(gateway, table)
    assert_nothing_but_fewer_files(gateway, table, before, {("id", "kind", "url"), ("score", "id", "kind")})
    assert {file.spec_id for file in data_files(table)} == {table.spec().spec_id}
