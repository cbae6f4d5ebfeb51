"""Rows without a partition are reported one by one, in every record format."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS
from service.ingest.decoding.streams.rows import BadRow, Rows, TargetRows
from service.ingest.decoding.values.invalid_partition_values import invalid_partition_values
from service.ingest.request_rows import Unfit, request_rows
from service.model.ingest.ingest_request import IngestRequest, Route, Write
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.writing import TableKey
from service.model.tables.partition_rules import FolderBounds, PartitionRule, PartitionRules
from service.model.tables.schemas import Field, Primitive
from service.model.tables.tables import TableName
from tests.fakes.spools import FakeSpools
from tests.unit.ingest.decoding.json.test_rows_at_once import sent

ID, NAME = Field(1, "id", Primitive("int")), Field(2, "name", Primitive("string"))
ON_DISK = FolderBounds(each=255, together=900)
BY_NAME = PartitionRules((PartitionRule("name", ("name",), "string", "identity"),), ON_DISK)
TARGET = ReadTarget((ID, NAME), partition=BY_NAME)
LONG = "é" * 90
RECORDS: list[dict[str, Any]] = [
    {"id": 1, "name": "a"},
    {"id": 2, "name": LONG},
    {"id": 3, "name": None},
    {"id": 4, "name": "b"},
]
REASON = "name: the table is partitioned by it, and it is too long for the name of a folder"


def rules(kind: str, transform: str, folders: FolderBounds | None = None, **more: bool) -> PartitionRules:
    return PartitionRules((PartitionRule("v", ("v",), kind, transform, **more),), folders)


@pytest.mark.parametrize(
    ("array", "kind", "transform", "bad"),
    [
        (pa.array([1.0, float("nan"), None, float("-inf"), -0.0]), "double", "identity", {1, 3}),
        (pa.array([1.0, float("inf")], pa.float32()), "float", "identity", {1}),
        (pa.array(map(Decimal, ["-900.00", "-900.01", "999.99"])), "decimal(5, 2)", "truncate[10000]", {1}),
        (pa.array(map(Decimal, ["-999.00", "-999.01", "999.99"])), "decimal(5, 2)", "truncate[100]", {1}),
        (
            pa.array([Decimal("-0.1"), Decimal("0.9"), None]),
            "decimal(1, 1)",
            "truncate[99]",
            {0},
        ),
        (pa.array([-(2**31), 8 - 2**31, 9 - 2**31, None], pa.int32()), "int", "truncate[10]", {0}),
        (pa.array([-(2**63), 1 - 2**63], pa.int64()), "long", "truncate[1024]", set()),
        (pa.array([-(2**63), 1 - 2**63]), "long", "truncate[7]", {0}),
        (pa.array(["x" * 253, "x" * 254, "é" * 42, "é" * 43, " " * 253]), "string", "identity", {1, 3}),
        (pa.array(["é" * 300, "a" * 300]), "string", "truncate[42]", set()),
        (pa.array(["é" * 300, "a" * 300]), "string", "truncate[43]", {0}),
        (pa.array([b"a" * 186, b"a" * 187, None]), "binary", "identity", {1}),
        (pa.array([b"a" * 400]), "binary", "truncate[30]", set()),
    ],
)
def test_a_value_without_a_partition_is_found(
    array: pa.Array, kind: str, transform: str, bad: set[int]
) -> None:
    found = invalid_partition_values(pa.record_batch({"v": array}), rules(kind, transform, ON_DISK))
    assert found.keys() == bad
    assert all(reason.startswith("v: ") for reason in found.values())


def test_null_is_none_where_the_source_in_a_struct_is_required() -> None:
    column = pa.array([{"x": 1}, None], pa.struct([pa.field("x", pa.int32(), nullable=False)]))
    rule = PartitionRule("x", ("st", "x"), "int", "bucket[4]", is_required=True)
    found = invalid_partition_values(pa.record_batch({"st": column}), PartitionRules((rule,)))
    assert found == {1: "st.x: the table is partitioned by it, and it is NULL, though it is required"}


def test_a_bucket_has_a_short_name_however_long_its_values_are() -> None:
    batch = pa.record_batch({"v": ["x" * 2_000]})
    assert invalid_partition_values(batch, rules("string", "bucket[16]", ON_DISK, is_required=True)) == {}


def test_in_an_object_store_all_folders_together_are_bounded() -> None:
    both = tuple(PartitionRule(name, (name,), "string", "identity") for name in ("a", "b"))
    batch = pa.record_batch({"a": ["x" * 500, "x" * 895, None], "b": ["y" * 500, None, "y" * 891]})
    assert invalid_partition_values(
        batch, PartitionRules(both, FolderBounds(each=None, together=900))
    ).keys() == {0, 1}
    assert invalid_partition_values(batch, PartitionRules(both, None)) == {}


def body(record_format: RecordFormat) -> bytes:
    sink = io.BytesIO()
    match record_format:
        case RecordFormat.NDJSON:
            return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in RECORDS).encode()
        case RecordFormat.CSV:
            lines = (f"{record['id']},{record['name'] or ''}\n" for record in RECORDS)
            return ("id,name\n" + "".join(lines)).encode()
        case RecordFormat.ARROW_STREAM:
            table = pa.Table.from_pylist(RECORDS)
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
        case RecordFormat.PARQUET:
            pq.write_table(pa.Table.from_pylist(RECORDS), sink)
    return sink.getvalue()


def ids(found: Iterable[Rows | Unfit]) -> list[int]:
    batches = [target_rows.rows for target_rows in found if isinstance(target_rows, TargetRows)]
    return [row["id"] for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("record_format", list(RecordFormat))
def test_a_record_without_a_partition_is_bad_where_it_stands_and_the_others_are_taken(
    record_format: RecordFormat,
) -> None:
    found = list(read_rows(io.BytesIO(body(record_format)), record_format, ReadPlan((TARGET,))))
    [bad] = [bad_row for bad_row in found if isinstance(bad_row, BadRow)]
    assert ids(found) == [1, 3, 4]
    # The first line of CSV is its header.
    number = 3 if record_format is RecordFormat.CSV else 2
    assert (bad.position.number, bad.reason, bad.target) == (number, REASON, 0)
    assert LONG in bad.payload.decode()


def test_of_columns_that_do_not_fit_and_partitions_that_are_none_all_rows_are_reported() -> None:
    table = pa.table({"id": [1, 2**40, 3], "name": ["a", "b", LONG]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found = list(read_rows(io.BytesIO(sink.getvalue()), RecordFormat.ARROW_STREAM, ReadPlan((TARGET,))))
    assert [bad_row.position.number for bad_row in found if isinstance(bad_row, BadRow)] == [2, 3]
    assert ids(found) == [1]


@pytest.mark.parametrize("route", [None, Route("name", {"a": 0, LONG: 0, "b": 0}, 0)])
@pytest.mark.parametrize("is_at_once", [True, False])
def test_records_of_a_json_body_are_reported_by_their_place(route: Route | None, is_at_once: bool) -> None:
    records: Sequence[Mapping[str, object]] | None = sent(json.dumps(RECORDS)) if is_at_once else RECORDS
    assert records is not None
    write = Write(TableKey(TableName("lake", "s", "t")), ())
    request = IngestRequest((write,), "f", shared=records, route=route)
    found = list(request_rows(request, [TARGET], DEFAULT_BOUNDS, FakeSpools()))
    [unfit] = [part for part in found if isinstance(part, Unfit)]
    assert (unfit.record.place, unfit.record.reason, unfit.write) == ("/records/1", REASON, 0)
    assert json.loads(unfit.payload) == RECORDS[1]
    assert ids(found) == [1, 3, 4]
