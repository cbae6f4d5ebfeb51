"""Files rewritten for another partition spec and schema, as Spark and PyIceberg read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.types import (
    DoubleType,
    FloatType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
)

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.metrics.content_files import data_file
from service.adapters.data_files.read_back.uncommitted_rows import ParquetWrittenRows
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.ingest.committing.commit_round import commit_round
from service.ingest.committing.rewriting import Rewriting
from service.model.ingest.writing import TableKey, WriteTarget
from service.model.tables.tables import TableName
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingests import ingest_of
from tests.integration.asking import rows

pytestmark = pytest.mark.integration
COUNT = 500
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "at", TimestampType()),
    NestedField(3, "price", FloatType()),
    NestedField(
        4, "place", StructType(NestedField(5, "city", StringType()), NestedField(6, "zip", LongType()))
    ),
    NestedField(7, "skipped", StringType()),
)
DAY_US = 86_400_000_000


@pytest.fixture
def events(lake: SqlCatalog) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.rewritten_{uuid4().hex[:8]}"
    yield lake.create_table(name, SCHEMA, properties={"format-version": "2"})
    lake.drop_table(name)


def change(table: Table) -> None:
    """Changes the partition spec and sort order; renames, widens and adds columns."""
    with table.update_schema() as schema:
        schema.rename_column("price", "amount")
        schema.update_column("price", DoubleType())
        schema.rename_column("place.city", "town")
        schema.add_column("new", StringType())
    with table.update_spec() as spec:
        spec.add_field("at", DayTransform(), "day")
        spec.add_field("id", BucketTransform(3), "part")


def batch() -> pa.RecordBatch:
    numbers = range(COUNT)
    return pa.record_batch(
        {
            "place": [
                None if n % 5 == 0 else {"city": f"c{n}", "zip": None if n % 3 else n} for n in numbers
            ],
            "price": pa.array([None if n % 4 == 0 else n / 8 for n in numbers], pa.float32()),
            "at": pa.array([None if n % 7 == 0 else n * DAY_US // 100 for n in numbers], pa.timestamp("us")),
            "id": pa.array(numbers, pa.int64()),
        }
    )


def test_both_read_the_rows_that_were_written_before_the_table_changed(
    gateway: httpx.Client, lake: SqlCatalog, events: Table
) -> None:
    key, log = TableKey(TableName("lake", *events.name())), FakeIngestLog()
    with closing(PyIcebergCatalogs({"lake": {"type": "sql", **lake.properties}}, SystemClock())) as catalogs:
        tables, files = PyIcebergWritableTables(catalogs), ParquetDataFiles(WriteBounds())
        before = tables.writable(key.table, key.branch)
        target = WriteTarget(
            key, before.schema.schema_id, before.spec_id, write_schema_column_ids=(4, 3, 2, 1)
        )
        result = files.write(before, target, [batch()])
        log.accept(ingest_of([result]), [result])
        change(events)
        commits = PyIcebergTableCommits(catalogs, data_file)
        ended = commit_round(key, log, commits, 1_000, Rewriting(tables, ParquetWrittenRows(), files))
    assert ended is not None
    assert ended.result is not None
    events.refresh()
    expected = [expected_row(row) for row in batch().to_pylist()]
    read = sorted(events.scan().to_arrow().to_pylist(), key=lambda row: row["id"])
    assert read == expected
    assert {task.file.spec_id for task in events.scan().plan_files()} == {events.spec().spec_id}

    name = f"lake.{'.'.join(events.name())}"
    reported = rows(
        gateway,
        f"SELECT id, cast(at AS string), amount, place.town, place.zip, skipped, new FROM {name} ORDER BY id",
    )
    assert reported == [plain(row) for row in expected]
    # Pruning by these partitions and bounds finds the right rows.
    for sql, wanted in (
        ("id = 123", [123]),
        ("at >= TIMESTAMP '1970-01-03' AND at < TIMESTAMP '1970-01-03 01:00:00'", [200, 201, 202, 204]),
        ("at IS NULL AND id < 20", [0, 7, 14]),
        ("place.town = 'c42'", [42]),
    ):
        assert rows(gateway, f"SELECT id FROM {name} WHERE {sql} ORDER BY id") == [[id_] for id_ in wanted]


def expected_row(row: dict[str, Any]) -> dict[str, Any]:
    place = row["place"]
    return {
        "id": row["id"],
        "at": row["at"],
        "amount": row["price"],
        "place": place and {"town": place["city"], "zip": place["zip"]},
        "skipped": None,
        "new": None,
    }


def plain(row: dict[str, Any]) -> list[Any]:
    place, at = row["place"] or {"town": None, "zip": None}, row["at"]
    return [row["id"], at and str(at), row["amount"], place["town"], place["zip"], None, None]
