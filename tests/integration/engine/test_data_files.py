"""Files of the gateway's own writer, committed by both Iceberg libraries, in every reader."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import BinaryType, LongType, NestedField, StringType, UUIDType

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.metrics.content_files import data_file
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.resolve_write_schema import resolve_write_schema
from service.model.ingest.ingest_request import ColumnNames, WriteRule
from service.model.ingest.writing import TableKey, WritableTable, WriteResult, WriteTarget
from service.model.tables.tables import TableName
from spark_session.engine.engine import SparkEngine
from tests.integration.engine.test_engine import run

pytestmark = pytest.mark.integration

KEY = TableKey(TableName("lake", "s", "t"))
WIDE = (
    "id BIGINT NOT NULL, day DATE, at TIMESTAMP, name STRING, amount DOUBLE, price DECIMAL(20, 3),"
    " place STRUCT<city: STRING, zip: INT, geo: STRUCT<lon: DOUBLE, lat: DOUBLE>>,"
    " tags ARRAY<STRUCT<tag: STRING, weight: INT>>, facts MAP<STRING, BIGINT>, late STRING"
)


@dataclass(frozen=True, slots=True)
class Lake:
    """A catalog of Spark's own, and the Iceberg library inside Spark."""

    engine: SparkEngine

    @property
    def spark(self) -> Any:
        assert self.engine.session is not None
        return self.engine.session.children._root

    def create(self, columns: str, *clauses: str) -> str:
        name = f"lake.s.t_{uuid4().hex}"
        self.spark.sql(f"CREATE TABLE {name} ({columns}) USING iceberg {' '.join(clauses)}")
        return name

    def java(self, name: str) -> Any:
        return self.spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            self.spark._jsparkSession, name
        )

    def table(self, name: str) -> Table:
        return StaticTable.from_metadata(self.java(name).operations().current().metadataFileLocation())

    def write(self, name: str, columns: list[str] | None, *batches: pa.RecordBatch) -> WriteResult:
        return written(self.table(name), columns, *batches)

    def append(self, name: str, columns: list[str] | None, *batches: pa.RecordBatch) -> WriteResult:
        result = self.write(name, columns, *batches)
        append = self.java(name).newAppend()
        for file in self.parsed(name, result):
            append.appendFile(file)
        append.commit()
        return result

    def parsed(self, name: str, result: WriteResult) -> list[Any]:
        """Returns the files as Iceberg's Java library parses their JSON."""
        iceberg = self.spark._jvm.org.apache.iceberg
        specs = self.java(name).specs()
        nodes = [iceberg.util.JsonUtil.mapper().readTree(file) for file in result.data_files]
        return [iceberg.ContentFileParser.fromJson(node, specs) for node in nodes]

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return list(run(self.engine, sql).rows.to_pylist())


def written(table: Table, columns: list[str] | None, *batches: pa.RecordBatch) -> WriteResult:
    schema = table.schema()
    ids = None if columns is None else tuple(schema.find_field(column).field_id for column in columns)
    target = WriteTarget(KEY, schema.schema_id, table.spec().spec_id, write_schema_column_ids=ids)
    return write_data_files(writer_state(table), target, batches, WriteBounds())


@pytest.fixture(scope="module")
def lake(shared_engine: SparkEngine) -> Lake:
    return Lake(shared_engine)


def test_three_projections_of_one_table_are_read_alike_by_all(lake: Lake) -> None:
    name = lake.create(WIDE, "PARTITIONED BY (day)", "TBLPROPERTIES ('format-version'='2')")
    day = date(2026, 1, 31)
    place = {"geo": {"lat": 1.5}, "city": "Bonn"}
    first = pa.record_batch({"name": ["a", "b"], "day": [day, None], "id": [1, 2]})
    second = pa.record_batch({"id": [3], "day": [day], "place": [place], "tags": [[{"weight": 7}, None]]})
    third = pa.record_batch(
        {
            "id": [4],
            "day": [day],
            "at": pa.array([datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)]),
            "name": ["é"],
            "amount": [-0.0],
            "price": [Decimal("-1.250")],
            "place": pa.array(
                [{"city": None, "zip": 5, "geo": None}],
                pa.struct(
                    {"city": pa.string(), "zip": pa.int32(), "geo": pa.struct({"lon": "f8", "lat": "f8"})}
                ),
            ),
            "tags": pa.array([[]], pa.list_(pa.struct({"tag": pa.string(), "weight": pa.int32()}))),
            "facts": pa.array([[("k", 1), ("l", None)]], pa.map_(pa.string(), pa.int64())),
            "late": ["z"],
        }
    )
    lake.append(name, ["name", "day", "id"], first)
    lake.append(name, ["id", "day", "place.geo.lat", "place.city", "tags.element.weight"], second)
    lake.append(name, None, third)
    found = lake.rows(f"SELECT * FROM {name} ORDER BY id")
    whole = dict.fromkeys(found[0])
    expected = [
        whole | {"id": 1, "day": day, "name": "a"},
        whole | {"id": 2, "name": "b"},
        whole
        | {
            "id": 3,
            "day": day,
            "place": {"city": "Bonn", "zip": None, "geo": {"lon": None, "lat": 1.5}},
            "tags": [{"tag": None, "weight": 7}, None],
        },
        whole | third.to_pylist()[0],
    ]
    assert [list(row) for row in found] == [list(whole)] * 4
    assert found == expected
    scanned = lake.table(name).scan().to_arrow().sort_by("id").to_pylist()
    assert scanned == expected
    assert math.copysign(1, scanned[3]["amount"]) == -1


def test_a_skipped_column_with_an_initial_default_reads_as_that(lake: Lake) -> None:
    name = lake.create("id BIGINT, name STRING", "TBLPROPERTIES ('format-version'='3')")
    iceberg = lake.spark._jvm.org.apache.iceberg
    update = lake.java(name).updateSchema()
    integer = iceberg.types.Types.IntegerType.get()
    update.addColumn("level", integer, "how high", iceberg.expressions.Expressions.lit(7).to(integer))
    update.commit()
    result = lake.append(name, ["id"], pa.record_batch({"id": [1, 2]}))
    assert lake.rows(f"SELECT * FROM {name} WHERE level IS NOT NULL AND name IS NULL ORDER BY id") == [
        {"id": 1, "name": None, "level": 7},
        {"id": 2, "name": None, "level": 7},
    ]
    counts = json.loads(result.data_files[0])["null-value-counts"]
    assert dict(zip(counts["keys"], counts["values"], strict=True)) == {1: 0, 2: 2}


def test_what_the_rules_say_of_defaults_is_what_readers_make_of_them(lake: Lake) -> None:
    name = lake.create("id BIGINT", "TBLPROPERTIES ('format-version'='3')")
    iceberg = lake.spark._jvm.org.apache.iceberg
    integer, lit = iceberg.types.Types.IntegerType.get(), iceberg.expressions.Expressions.lit
    update = lake.java(name).updateSchema()
    update.addRequiredColumn("level", integer, "how high", lit(7).to(integer))
    update.commit()
    assert ids_of(lake.table(name), "id") == (1,)
    result = lake.append(name, ["id"], pa.record_batch({"id": [1]}))
    lake.java(name).updateSchema().updateColumnDefault("level", lit(9).to(integer)).commit()
    with pytest.raises(WriteSchemaInvalid) as refused:
        ids_of(lake.table(name), "id")
    assert [getattr(violation, "rule", None) for violation in refused.value.violations] == [
        WriteRule.DEFAULT_DIFFERS
    ]
    assert ids_of(lake.table(name), "level", "id") == (2, 1)
    lake.append(name, ["level", "id"], pa.record_batch({"level": [8], "id": [2]}))
    # Iceberg's own writer writes the new default; a value missing in a file reads as the initial one.
    lake.spark.sql(f"INSERT INTO {name} (id) VALUES (3)")
    expected = [{"id": 1, "level": 7}, {"id": 2, "level": 8}, {"id": 3, "level": 9}]
    assert lake.rows(f"SELECT * FROM {name} ORDER BY id") == expected
    assert lake.table(name).scan().to_arrow().sort_by("id").to_pylist() == expected
    with duckdb.connect() as connection:
        [path] = [json.loads(file)["file-path"][7:] for file in result.data_files]
        assert connection.from_parquet(path).to_arrow_table().to_pylist() == [{"id": 1}]


def ids_of(table: Table, *names: str) -> tuple[int, ...]:
    """Returns the column ids of a write schema with these names."""
    writable = WritableTable(
        KEY, table.metadata.table_uuid, 3, table_schema(table.schema()), table.spec().spec_id, (), (), b""
    )
    resolved = resolve_write_schema(ColumnNames(names), writable)
    assert resolved is not None
    return resolved.column_ids


def test_no_file_without_the_column_is_read_for_its_values(lake: Lake) -> None:
    name = lake.create(WIDE)
    lake.append(name, ["id", "place.city"], pa.record_batch({"id": [1], "place": [{"city": "Bonn"}]}))
    lake.append(name, ["id", "late"], pa.record_batch({"id": [2], "late": ["x"]}))
    for condition, ids, files in [
        ("late IS NOT NULL", [2], 1),
        ("late = 'x'", [2], 1),
        ("late IS NULL", [1], 2),
        ("name IS NOT NULL", [], 0),
        ("place IS NOT NULL", [1], 1),
        ("place.zip IS NOT NULL", [], 0),
        ("place.city IS NOT NULL", [1], 1),
    ]:
        answer = run(lake.engine, f"SELECT id FROM {name} WHERE {condition}")
        assert [row["id"] for row in answer.rows.to_pylist()] == ids, condition
        selected = [scan.metrics.data_files.selected for scan in answer.scans]
        assert sum(selected) <= files if condition == "late IS NULL" else sum(selected) == files, condition


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_nan_is_found_by_whoever_looks_above_all_numbers(lake: Lake, kind: str) -> None:
    # For Spark, NaN is greater than every number; for Iceberg, it is outside all bounds.
    name = lake.create(f"id BIGINT, x {kind}, s STRUCT<y: {kind}>")
    values = [1.0, math.nan, None]
    rows = {"id": [1, 2, 3], "x": values, "s": [{"y": value} for value in values]}
    lake.append(name, None, pa.record_batch(rows))
    # This file has nothing but NaN.
    lake.append(name, None, pa.record_batch({"id": [4], "x": [math.nan], "s": [{"y": math.nan}]}))
    for condition in ("x > 5", "x >= 5", "NOT x <= 5", "s.y > 5", "isnan(x)", "x = double('NaN')"):
        found = lake.rows(f"SELECT id FROM {name} WHERE {condition} ORDER BY id")
        assert found == [{"id": 2}, {"id": 4}], condition
    assert lake.rows(f"SELECT id FROM {name} WHERE x < 5") == [{"id": 1}]


def test_rows_lie_in_their_partitions_and_are_found_there(lake: Lake) -> None:
    transforms = "bucket(4, id), truncate(2, name), days(at), truncate(10, price)"
    name = lake.create(
        "id BIGINT, name STRING, at TIMESTAMP, price DECIMAL(9, 2)", f"PARTITIONED BY ({transforms})"
    )
    ats = [datetime(1960 + 7 * n, 1 + n % 12, 1 + n, n, tzinfo=UTC) if n % 5 else None for n in range(24)]
    names = [f"é{n}x" if n % 3 else None for n in range(24)]
    prices = [Decimal(n * 7 - 80).scaleb(-2) if n % 4 else None for n in range(24)]
    rows = pa.record_batch({"id": list(range(24)), "name": names, "at": pa.array(ats), "price": prices})
    result = lake.append(name, None, rows.slice(0, 12), rows.slice(12))
    assert len(result.data_files) > 12
    own = {json.dumps(json.loads(file)["partition"]) for file in result.data_files}
    # Spark's own writer must find the same partitions for the same rows.
    copy = lake.create(
        "id BIGINT, name STRING, at TIMESTAMP, price DECIMAL(9, 2)", f"PARTITIONED BY ({transforms})"
    )
    lake.spark.sql(f"INSERT INTO {copy} SELECT * FROM {name}")
    partitions = "SELECT partition, record_count FROM {}.partitions ORDER BY CAST(partition AS STRING)"
    assert lake.rows(partitions.format(name)) == lake.rows(partitions.format(copy))
    assert len(own) == len(lake.rows(partitions.format(name)))
    for n in range(24):
        values = rows.slice(n, 1).to_pylist()[0]
        conditions = [f"id = {n}"] + ([f"name = '{values['name']}'"] if values["name"] else ["name IS NULL"])
        answer = run(lake.engine, f"SELECT * FROM {name} WHERE {' AND '.join(conditions)}")
        assert answer.rows.to_pylist() == [values]
        assert answer.scans[0].metrics.data_files.selected < len(result.data_files)


def test_icebergs_own_library_reads_every_field_of_the_json(lake: Lake) -> None:
    name = lake.create(
        "id BIGINT, name STRING, day DATE, at TIMESTAMP_NTZ", "PARTITIONED BY (day, at, hours(at))"
    )
    at = datetime(2026, 1, 31, 12, 30, 0, 5)
    rows = {"id": [1, 2], "name": ["n" * 30, None], "day": [date(2026, 1, 31)] * 2, "at": [at, at]}
    result = lake.write(name, ["id", "name", "day", "at"], pa.record_batch(rows))
    [file] = lake.parsed(name, result)
    own = data_file(result.data_files[0], lake.table(name).schema(), lake.table(name).spec())
    assert (file.location(), file.specId()) == (own.file_path, own.spec_id)
    assert (file.content().name(), file.format().name()) == ("DATA", "PARQUET")
    assert (file.recordCount(), file.fileSizeInBytes()) == (2, Path(own.file_path[7:]).stat().st_size)
    partition = [file.partition().get(index) for index in range(3)]
    assert partition == [own.partition[index] for index in range(3)]
    assert dict(file.columnSizes()) == own.column_sizes
    assert dict(file.valueCounts()) == own.value_counts == {1: 2, 2: 2, 3: 2, 4: 2}
    assert dict(file.nullValueCounts()) == own.null_value_counts
    assert dict(file.nanValueCounts()) == own.nan_value_counts == {}
    for read, expected in ((file.lowerBounds(), own.lower_bounds), (file.upperBounds(), own.upper_bounds)):
        assert {key: bytes_of(read[key]) for key in read} == expected
    assert set(own.lower_bounds) == {1, 2, 3, 4}
    assert (list(file.splitOffsets()), file.sortOrderId()) == (own.split_offsets, own.sort_order_id)
    assert file.equalityFieldIds() is None


def bytes_of(buffer: Any) -> bytes:
    return bytes(buffer.duplicate().get(index) & 255 for index in range(buffer.remaining()))


def test_files_are_in_the_tables_order_and_say_so(lake: Lake) -> None:
    name = lake.create("id BIGINT, name STRING, x DOUBLE")
    lake.spark.sql(
        f"ALTER TABLE {name} WRITE ORDERED BY truncate(1, name) DESC NULLS FIRST, x ASC NULLS LAST"
    )
    names = ["b1", None, "a", "b0", "c", None]
    rows = pa.record_batch({"x": [1.0, 2, None, math.nan, 0, -1], "name": names, "id": list(range(6))})
    result = lake.append(name, ["x", "name", "id"], rows)
    [content] = [json.loads(file) for file in result.data_files]
    assert content["sort-order-id"] == lake.java(name).sortOrder().orderId() > 0
    assert pq.read_table(content["file-path"][7:])["id"].to_pylist() == [5, 1, 4, 0, 3, 2]
    unsorted = lake.append(name, ["id", "x"], pa.record_batch({"id": [9, 8], "x": [2.0, 1.0]}))
    assert json.loads(unsorted.data_files[0])["sort-order-id"] == 0
    files = lake.rows(f"SELECT sort_order_id FROM {name}.files ORDER BY 1")
    assert [file["sort_order_id"] for file in files] == [0, content["sort-order-id"]]


def test_executors_write_what_the_driver_commits(lake: Lake) -> None:
    name = lake.create("id BIGINT, name STRING", "PARTITIONED BY (bucket(2, id))")
    table = lake.table(name)
    state = writer_state(table).encoded()
    target = WriteTarget(KEY, table.schema().schema_id, table.spec().spec_id, write_schema_column_ids=(1,))

    def files_of(starts: Iterator[int]) -> Iterator[str]:
        batches = (pa.record_batch({"id": list(range(start, start + 25))}) for start in starts)
        result = write_data_files(WriterState.decoded(state), target, batches, WriteBounds())
        yield from result.data_files

    context = lake.spark.sparkContext
    context.pythonExec = sys.executable
    files = context.parallelize(range(0, 100, 25), 2).mapPartitions(files_of).collect()
    result = WriteResult(target, tuple(files), (), 100, 0)
    append = lake.java(name).newAppend()
    for file in lake.parsed(name, result):
        append.appendFile(file)
    append.commit()
    assert len(files) == 4
    assert lake.rows(f"SELECT count(DISTINCT id) AS n, count(name) AS named FROM {name}") == [
        {"n": 100, "named": 0}
    ]


def test_pyiceberg_commits_the_files_and_spark_reads_what_it_committed(lake: Lake, tmp_path: Path) -> None:
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "who", UUIDType()),
        NestedField(3, "raw", BinaryType()),
        NestedField(4, "name", StringType()),
        NestedField(5, "late", StringType()),
    )
    spec = PartitionSpec(
        PartitionField(3, 1000, TruncateTransform(2), "raw_start"),
        PartitionField(4, 1001, TruncateTransform(1), "name_start"),
        PartitionField(2, 1002, BucketTransform(3), "who_bucket"),
    )
    order = SortOrder(SortField(1, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_LAST))
    properties = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": tmp_path.as_uri()}
    with closing(SqlCatalog("lake", **properties)) as catalog:
        catalog.create_namespace("s")
        table = catalog.create_table("s.t", schema, partition_spec=spec, sort_order=order)
        whos = [UUID(int=1), UUID(int=2**127 + 5), None, UUID(int=1)]
        rows = pa.record_batch(
            {
                "name": ["ax", "ay", "c", None],
                "who": pa.array([who and who.bytes for who in whos], pa.binary(16)),
                "raw": [b"\x00\xffa", b"\x00\xffb", None, b"\x00\xffc"],
                "id": [1, 2, 3, 4],
            }
        )
        result = written(table, ["name", "who", "raw", "id"], rows)
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            for file in result.data_files:
                append.append_data_file(data_file(file, table.schema(), table.spec()))
        metadata = table.metadata_location
        scanned = table.scan().to_arrow().sort_by("id").to_pylist()
        assert [row["name"] for row in scanned] == ["ax", "ay", "c", None]
        assert list(table.scan(row_filter="late is not null").plan_files()) == []
        assert len(list(table.scan(row_filter="id > 3").plan_files())) == 1
    frame = lake.spark.read.format("iceberg").load(metadata)
    found = [row.asDict() for row in frame.orderBy("id").collect()]
    assert [(row["id"], row["who"], row["late"]) for row in found] == [
        (index + 1, None if who is None else str(who), None) for index, who in enumerate(whos)
    ]
    assert [bytes(row["raw"]) if row["raw"] is not None else None for row in found] == rows["raw"].to_pylist()
    assert frame.where("late IS NOT NULL").count() == 0
    for who in (whos[0], whos[1]):
        assert frame.where(f"who = '{who}'").count() == whos.count(who)
    assert frame.where(f"who > '{whos[0]}'").count() == 1
    assert frame.where("raw = X'00ff62'").count() == 1
