"""Tables to write files for, without a catalog."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import IdentityTransform, parse_transform
from pyiceberg.types import (
    DateType,
    DoubleType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
)

from service.adapters.data_files.metrics.content_files import data_file
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import TableKey, WriteResult, WriteTarget
from service.model.tables.tables import TableName

EVENTS = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", DateType()),
    NestedField(3, "name", StringType()),
    NestedField(4, "amount", DoubleType()),
    NestedField(
        5,
        "place",
        StructType(NestedField(6, "city", StringType()), NestedField(7, "zip", LongType())),
    ),
    NestedField(8, "tags", ListType(9, StructType(NestedField(10, "tag", StringType())), False)),
    NestedField(11, "level", LongType(), initial_default=1, write_default=1),
    schema_id=3,
)


def state_of(
    location: Path,
    schema: Schema = EVENTS,
    spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
    order: SortOrder = UNSORTED_SORT_ORDER,
    properties: Mapping[str, str] | None = None,
) -> WriterState:
    return WriterState(schema, spec, order, location.as_uri(), properties or {}, {})


def spec_of(*fields: tuple[int, str, str]) -> PartitionSpec:
    """Builds a partition spec of fields given as source id, transform and name."""
    parts = [
        PartitionField(source, 1000 + index, parse_transform(transform), name)
        for index, (source, transform, name) in enumerate(fields)
    ]
    return PartitionSpec(*parts, spec_id=4)


def order_of(*fields: tuple[int, SortDirection, NullOrder]) -> SortOrder:
    return SortOrder(
        *(SortField(source, IdentityTransform(), by, nulls) for source, by, nulls in fields), order_id=5
    )


def target_of(state: WriterState, column_ids: tuple[int, ...] | None = None) -> WriteTarget:
    key = TableKey(TableName("lake", "s", "t"))
    return WriteTarget(key, state.schema.schema_id, state.spec.spec_id, write_schema_column_ids=column_ids)


def write(
    state: WriterState,
    column_ids: tuple[int, ...] | None,
    batches: Iterable[pa.RecordBatch],
    bounds: WriteBounds | None = None,
) -> WriteResult:
    return write_data_files(state, target_of(state, column_ids), batches, bounds or WriteBounds())


def read(state: WriterState, result: WriteResult) -> list[DataFile]:
    return [data_file(file, state.schema, state.spec) for file in result.data_files]


def rows_of(result: WriteResult) -> list[list[dict[str, Any]]]:
    """Returns the rows of each file."""
    return [pq.read_table(path).to_pylist() for path in paths_of(result)]


def paths_of(result: WriteResult) -> list[Path]:
    return [Path(json.loads(file)["file-path"].removeprefix("file://")) for file in result.data_files]


def files_below(location: Path) -> list[Path]:
    return sorted(path for path in location.rglob("*") if path.is_file())
