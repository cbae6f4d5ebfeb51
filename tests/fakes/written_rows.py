"""Reads back the rows of fake data files; their storage can be down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pyarrow as pa

from service.errors.ingest_errors import CommittableUnreadable, WrittenFileMissing
from service.errors.unavailable import StorageDown
from service.ingest.write_schema.written_fields import written_fields
from service.model.ingest.writing import WritableTable, WriteTarget
from service.model.tables.schemas import Field, TableSchema
from tests.fakes.data_files import FakeDataFiles


class FakeWrittenRows:
    """Its `schema` is the table's schema when the files were written. Values are not converted.

    A batch has at most `batch_rows` rows.
    """

    def __init__(self, files: FakeDataFiles, schema: TableSchema) -> None:
        self.schema = schema
        self.batch_rows = 100
        self._files = files

    def columns(self, table: WritableTable, data_file: str) -> tuple[Field, ...]:
        fields = {column.name: column for column in self.schema.columns}
        return tuple(fields[name] for name in self._rows(table, data_file)[0])

    def batches(
        self, table: WritableTable, target: WriteTarget, data_files: Sequence[str]
    ) -> Iterable[pa.RecordBatch]:
        before = {column.field_id: column.name for column in self.schema.columns}
        fields = written_fields(table.schema, target.write_schema_column_ids)
        for file in data_files:
            rows = self._rows(table, file)
            found = [
                {field.name: row.get(before.get(field.field_id, "")) for field in fields} for row in rows
            ]
            for start in range(0, len(found), self.batch_rows):
                yield pa.RecordBatch.from_pylist(found[start : start + self.batch_rows])

    def _rows(self, table: WritableTable, data_file: str) -> list[dict[str, object]]:
        if self._files.is_down:
            raise StorageDown(f"The storage of {table.key.table} does not return files.")
        content = json.loads(data_file)
        rows = self._files.files.get(content["file-path"])
        if rows is None:
            raise WrittenFileMissing
        if len(rows) != content["record-count"]:
            raise CommittableUnreadable
        return rows
