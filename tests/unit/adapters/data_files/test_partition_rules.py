"""The reader's check finds exactly the values for which the writer has no partition."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
)

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.data_files.plan.locations import folder_bounds
from service.adapters.data_files.plan.writer_state import WriterState
from service.errors.ingest_errors import RecordsInvalid
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.ingest.decoding.values.invalid_partition_values import invalid_partition_values
from service.ingest.derive_partition_rules import partition_rules
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.tables import PartitionField, TableName
from tests.unit.adapters.data_files.states import files_below, spec_of, state_of, write

KEY = TableKey(TableName("lake", "s", "t"))
NOT_PARTITIONED_PATHS = {
    "write.object-storage.enabled": "true",
    "write.object-storage.partitioned-paths": "false",
}


@pytest.mark.parametrize("properties", [{}, NOT_PARTITIONED_PATHS])
@pytest.mark.parametrize(
    ("kind", "transform", "values"),
    [
        (
            StringType(),
            "identity",
            ["", "a b", "é" * 40, "é" * 41, "é" * 90, "x" * 246, "x" * 247, "😀" * 21, None],
        ),
        (StringType(), "truncate[42]", ["é" * 41, "é" * 42, "é" * 300, "😀" * 42, "\x00/%" * 20]),
        (BinaryType(), "identity", [b"", b"\xff" * 90, b"\xfb" * 180, b"a" * 183, b"a" * 186]),
        (BinaryType(), "truncate[3]", [b"a" * 500]),
        (DoubleType(), "identity", [1.0, float("nan"), float("inf"), float("-inf"), -0.0, None]),
        (
            DecimalType(5, 2),
            "truncate[100]",
            [Decimal(text) for text in ("-999.99", "-999.00", "999.99", "0.01")],
        ),
        (
            DecimalType(38, 0),
            "truncate[7]",
            [Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(4 - 10**38)],
        ),
        (IntegerType(), "truncate[10]", [-(2**31), 1 - 2**31, 8 - 2**31, 9 - 2**31, -1, 2**31 - 1, None]),
        (IntegerType(), "truncate[16]", [-(2**31), 1 - 2**31]),
        (LongType(), "truncate[7]", [-(2**63), 1 - 2**63, 3 - 2**63, 2**63 - 1]),
        (DecimalType(3, 0), "truncate[1000]", [Decimal(-1), Decimal(0), Decimal(999)]),
    ],
)
def test_each_value_is_refused_by_both_or_by_none(
    tmp_path: Path, kind: IcebergType, transform: str, values: list[object], properties: dict[str, str]
) -> None:
    schema = Schema(NestedField(1, "v", kind))
    state = state_of(tmp_path, schema, spec_of((1, transform, "v é")), properties=properties)
    field = PartitionField("v é", "v", transform)
    bounds = folder_bounds(state)
    table = WritableTable(KEY, UUID(int=1), 2, table_schema(schema), 4, (field,), (), b"", bounds)
    rows = pa.RecordBatch.from_pylist(
        [{"v": value} for value in values], arrow_schema(table_schema(schema).columns)
    )
    found = invalid_partition_values(rows, partition_rules(table))
    assert found.keys() == {row for row in range(len(values)) if is_refused(state, rows.slice(row, 1))}


def is_refused(state: WriterState, rows: pa.RecordBatch) -> bool:
    try:
        write(state, None, [rows])
    except RecordsInvalid:
        return True
    return False


def test_null_structs_are_refused_by_both_where_the_source_in_them_is_required(tmp_path: Path) -> None:
    schema = Schema(NestedField(1, "st", StructType(NestedField(2, "x", IntegerType(), required=True))))
    state = state_of(tmp_path, schema, spec_of((2, "bucket[4]", "b")))
    field = PartitionField("b", "st.x", "bucket[4]")
    bounds = folder_bounds(state)
    table = WritableTable(KEY, UUID(int=1), 2, table_schema(schema), 4, (field,), (), b"", bounds)
    rows = pa.RecordBatch.from_pylist([{"st": {"x": 1}}, {"st": None}], arrow_schema(table.schema.columns))
    assert invalid_partition_values(rows, partition_rules(table)).keys() == {1}
    with pytest.raises(RecordsInvalid):
        write(state, None, [rows])
    assert files_below(tmp_path) == []


def test_partitions_that_every_value_has_need_no_look() -> None:
    schema = table_schema(Schema(NestedField(1, "d", StringType()), NestedField(2, "n", IntegerType())))
    fields = (PartitionField("a", "d", "bucket[8]"), PartitionField("b", "n", "identity"))
    table = WritableTable(KEY, UUID(int=1), 2, schema, 4, fields, (), b"")
    assert partition_rules(table).fields == ()
