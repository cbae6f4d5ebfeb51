"""In-memory data files: rows by address, a storage that can be down, and a limit for rows of an upsert."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4
from zlib import crc32

import pyarrow as pa

from service.errors.ingest_errors import UpsertTooLarge
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Destination, WritableTable, WriteResult, WriteTarget


class FakeDataFiles:
    def __init__(self) -> None:
        self.files: dict[str, list[dict[str, Any]]] = {}
        self.is_down = False
        self.wanted_bytes = 512 * 1024**2
        self.upsert_rows: int | None = None

    def write(
        self, table: WritableTable, target: WriteTarget, batches: Iterable[pa.RecordBatch]
    ) -> WriteResult:
        taken = list(batches)
        rows = [row for batch in taken for row in batch.to_pylist()]
        if self.is_down:
            raise StorageDown(f"The storage of {table.key.table} does not accept files.")
        if target.is_upsert and self.upsert_rows is not None and len(rows) > self.upsert_rows:
            raise UpsertTooLarge("too many rows")
        if not rows:
            return WriteResult(target, (), (), 0, 0)
        address = f"memory:/{table.key.table}/{uuid4()}.parquet"
        self.files[address] = rows
        byte_count = sum(batch.nbytes for batch in taken)
        content = {
            "spec-id": target.spec_id,
            "content": "data",
            "file-path": address,
            "file-format": "parquet",
            "partition": [],
            "file-size-in-bytes": byte_count,
            "record-count": len(rows),
        }
        return WriteResult(target, (json.dumps(content),), (), len(rows), byte_count)

    def write_all(self, rows: Iterable[tuple[Destination, pa.RecordBatch]]) -> list[WriteResult]:
        found: dict[WriteTarget, tuple[WritableTable, list[pa.RecordBatch]]] = {}
        for destination, batch in rows:
            found.setdefault(destination.target, (destination.table, []))[1].append(batch)
        results = [self.write(table, target, batches) for target, (table, batches) in found.items()]
        return [result for result in results if result.record_count]

    def discard(self, table: WritableTable, result: WriteResult) -> None:  # noqa: ARG002
        if not self.is_down:
            for file in result.data_files:
                self.files.pop(json.loads(file)["file-path"], None)

    def target_bytes(self, table: WritableTable) -> int:  # noqa: ARG002
        return self.wanted_bytes

    def key_parts(
        self, destination: Destination, rows: pa.RecordBatch, count: int
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        ids = destination.target.equality_field_ids
        names = [column.name for column in destination.table.schema.columns if column.field_id in ids]
        found: dict[int, list[int]] = {}
        for row, key in enumerate(rows.select(names).to_pylist()):
            found.setdefault(crc32(repr(key).encode()) % count, []).append(row)
        return ((part, rows.take(pa.array(indices))) for part, indices in found.items())
