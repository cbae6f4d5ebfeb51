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
from service.model.ingest.record_deletes import DELETE_MARK
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
        if any(DELETE_MARK in row for row in rows):
            return self._marked(table, target, rows)
        if self.is_down:
            raise StorageDown(f"The storage of {table.key.table} does not accept files.")
        if target.is_upsert and self.upsert_rows is not None and len(rows) > self.upsert_rows:
            raise UpsertTooLarge("too many rows")
        if not rows:
            return WriteResult(target, (), (), 0, 0)
        byte_count = sum(batch.nbytes for batch in taken)
        return WriteResult(target, (self._file(table, target, rows, byte_count),), (), len(rows), byte_count)

    def _marked(self, table: WritableTable, target: WriteTarget, rows: list[dict[str, Any]]) -> WriteResult:
        if self.is_down:
            raise StorageDown(f"The storage of {table.key.table} does not accept files.")
        if self.upsert_rows is not None and len(rows) > self.upsert_rows:
            raise UpsertTooLarge("too many rows")
        ids = target.equality_field_ids
        names = [column.name for column in table.schema.columns if column.field_id in ids]
        last = {tuple(row[name] for name in names): dict(row) for row in rows}
        live = [row for row in last.values() if not row.pop(DELETE_MARK)]
        keys = [dict(zip(names, key, strict=True)) for key in last]
        return WriteResult(
            target,
            (self._file(table, target, live),) if live else (),
            (self._file(table, target, keys, content="equality-deletes"),),
            len(live),
            0,
            len(keys) - len(live),
        )

    def _file(
        self,
        table: WritableTable,
        target: WriteTarget,
        rows: list[dict[str, Any]],
        byte_count: int = 0,
        content: str = "data",
    ) -> str:
        address = f"memory:/{table.key.table}/{uuid4()}.parquet"
        self.files[address] = rows
        return json.dumps(
            {
                "spec-id": target.spec_id,
                "content": content,
                "file-path": address,
                "file-format": "parquet",
                "partition": [],
                "file-size-in-bytes": byte_count,
                "record-count": len(rows),
            }
        )

    def write_all(self, rows: Iterable[tuple[Destination, pa.RecordBatch]]) -> list[WriteResult]:
        found: dict[WriteTarget, tuple[WritableTable, list[pa.RecordBatch]]] = {}
        for destination, batch in rows:
            found.setdefault(destination.target, (destination.table, []))[1].append(batch)
        results = [self.write(table, target, batches) for target, (table, batches) in found.items()]
        return [result for result in results if not result.is_empty]

    def discard(self, table: WritableTable, result: WriteResult) -> None:  # noqa: ARG002
        if not self.is_down:
            for file in (*result.data_files, *result.delete_files):
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
