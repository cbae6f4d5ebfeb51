"""Real Parquet files of two columns, with as much of Iceberg's JSON as a commit needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from service.model.ingest.writing import MAIN, TableKey, WriteResult, WriteTarget

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", IntegerType()),
    NestedField(3, "note", StringType()),
)
COLUMN_IDS = (1, 2)
_FILE_SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "1"}),
        pa.field("day", pa.int32(), metadata={"PARQUET:field_id": "2"}),
    ]
)


def target_of(table: Table, key: TableKey, column_ids: tuple[int, ...] | None = COLUMN_IDS) -> WriteTarget:
    """Returns the target of files with the columns `id` and `day` of the table's current schema."""
    metadata = table.metadata
    return WriteTarget(
        key,
        metadata.current_schema_id,
        metadata.default_spec_id,
        write_schema_column_ids=column_ids,
        table_uuid=metadata.table_uuid,
    )


def written(table: Table, target: WriteTarget, ids: Sequence[int], day: int = 1) -> WriteResult:
    """Writes one file with these ids."""
    folder = Path(table.location().removeprefix("file://").removeprefix("file:")) / "data"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{uuid4().hex}.parquet"
    rows = pa.table({"id": list(ids), "day": [day] * len(ids)}, schema=_FILE_SCHEMA)
    pq.write_table(rows.select([field.name for field in _FILE_SCHEMA if _has(target, field)]), path)
    size = path.stat().st_size
    text = json.dumps(
        {
            "spec-id": target.spec_id,
            "content": "data",
            "file-path": path.as_uri(),
            "file-format": "parquet",
            "partition": [day for _ in table.spec().fields],
            "file-size-in-bytes": size,
            "record-count": len(ids),
        }
    )
    return WriteResult(target, (text,), (), len(ids), size)


def _has(target: WriteTarget, field: pa.Field) -> bool:
    ids = target.write_schema_column_ids
    return ids is None or int(field.metadata[b"PARQUET:field_id"]) in ids


def read_data_file(text: str, schema: Schema, spec: PartitionSpec) -> DataFile:  # noqa: ARG001
    """Reads a description made by `written`, whose partition values are integers."""
    content = json.loads(text)
    data_file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=content["file-path"],
        file_format=FileFormat.PARQUET,
        partition=Record(*content["partition"]),
        record_count=content["record-count"],
        file_size_in_bytes=content["file-size-in-bytes"],
    )
    assert content["spec-id"] == spec.spec_id
    data_file.spec_id = spec.spec_id
    return data_file


def ids_in(table: Table, branch: str = MAIN) -> list[int]:
    """Returns the ids that a reader of the branch finds now, sorted."""
    scan = table.scan(selected_fields=("id",), limit=None)
    if branch != MAIN:
        scan = scan.use_ref(branch)
    return sorted(scan.to_arrow().column("id").to_pylist())
