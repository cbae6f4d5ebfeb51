"""The contract of `WrittenRows`, for every implementation."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.uncommitted_rows import ParquetWrittenRows
from service.errors.ingest_errors import CommittableUnreadable, WrittenFileMissing
from service.model.ingest.writing import WritableTable, WriteResult, WriteTarget
from service.ports.tables.data_files import WrittenRows
from tests.contract.data_files.storages import SCHEMA, FakeStorage, Storage
from tests.fakes.written_rows import FakeWrittenRows

RENAMED = Schema(
    NestedField(4, "new", LongType()),
    NestedField(2, "full name", StringType()),
    NestedField(1, "id", LongType(), required=True),
    schema_id=1,
)


@pytest.fixture
def written_rows(storage: Storage) -> WrittenRows:
    if isinstance(storage, FakeStorage):
        return FakeWrittenRows(storage.data_files, table_schema(SCHEMA))
    return ParquetWrittenRows()


def written(storage: Storage, *rows: dict[str, object]) -> WriteResult:
    target = WriteTarget(storage.table.key, 0, 0, write_schema_column_ids=(2, 1))
    return storage.data_files.write(storage.table, target, [pa.RecordBatch.from_pylist(list(rows))])


def now(storage: Storage) -> WritableTable:
    """Returns the table with renamed and reordered columns and one more column."""
    table = storage.table
    state = table.state and replace(WriterState.decoded(table.state), schema=RENAMED).encoded()
    return replace(table, schema=table_schema(RENAMED), state=state)


def test_a_file_tells_its_columns_in_their_order(storage: Storage, written_rows: WrittenRows) -> None:
    [file] = written(storage, {"name": "a", "id": 1}).data_files
    columns = written_rows.columns(storage.table, file)
    assert [(column.field_id, column.name, column.is_required) for column in columns] == [
        (2, "name", False),
        (1, "id", True),
    ]
    assert [column.type for column in columns] == [
        column.type for column in reversed(storage.table.schema.columns[:2])
    ]


def test_rows_come_back_with_the_columns_that_the_table_has_now(
    storage: Storage, written_rows: WrittenRows
) -> None:
    results = [
        written(storage, {"name": "a", "id": 1}, {"name": None, "id": 2}),
        written(storage, {"name": "c", "id": 3}),
    ]
    files = [file for result in results for file in result.data_files]
    target = WriteTarget(storage.table.key, 1, 0, write_schema_column_ids=(1, 4, 2))
    batches = written_rows.batches(now(storage), target, files)
    assert [row for batch in batches for row in batch.to_pylist()] == [
        {"id": 1, "new": None, "full name": "a"},
        {"id": 2, "new": None, "full name": None},
        {"id": 3, "new": None, "full name": "c"},
    ]


def test_a_file_that_is_gone_is_reported(storage: Storage, written_rows: WrittenRows) -> None:
    result = written(storage, {"name": "a", "id": 1})
    storage.data_files.discard(storage.table, result)
    with pytest.raises(WrittenFileMissing):
        written_rows.columns(storage.table, result.data_files[0])
    with pytest.raises(WrittenFileMissing):
        list(written_rows.batches(storage.table, result.target, result.data_files))


def test_a_file_with_other_rows_than_it_was_said_to_have_is_reported(
    storage: Storage, written_rows: WrittenRows
) -> None:
    result = written(storage, {"name": "a", "id": 1})
    file = json.dumps(json.loads(result.data_files[0]) | {"record-count": 2})
    with pytest.raises(CommittableUnreadable):
        list(written_rows.batches(storage.table, result.target, [file]))
