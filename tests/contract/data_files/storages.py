"""Storages for data files, which tests can inspect from outside and make unavailable."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pyarrow.parquet as pq
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import LongType, NestedField, StringType

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.catalogs.store_region import with_region
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.tables import TableName
from service.ports.tables.data_files import DataFiles
from tests.fakes.data_files import FakeDataFiles
from tests.integration.object_store.names import Denial
from tests.integration.object_store.server import ObjectStore

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType()),
    NestedField(3, "note", StringType()),
)


class Storage(Protocol):
    @property
    def data_files(self) -> DataFiles: ...

    @property
    def table(self) -> WritableTable: ...

    def files(self) -> Mapping[str, list[dict[str, Any]]]:
        """Returns the rows of every file, by its address."""

    def take_down(self) -> None: ...


def table_of(state: bytes) -> WritableTable:
    key = TableKey(TableName("lake", "s", "t"))
    return WritableTable(key, uuid4(), 2, table_schema(SCHEMA), 0, (), (), state)


class FakeStorage:
    def __init__(self) -> None:
        self.data_files = FakeDataFiles()
        self.table = table_of(b"")

    def files(self) -> Mapping[str, list[dict[str, Any]]]:
        return self.data_files.files

    def take_down(self) -> None:
        self.data_files.is_down = True


class ObjectStorage:
    """A storage in a bucket of its own."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._bucket = store.make_bucket(f"b-{uuid4().hex}")
        self.data_files = ParquetDataFiles(WriteBounds())
        location = f"s3://{self._bucket}/warehouse/s/t"
        spec, order = UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER
        properties = with_region(store.properties)
        self.table = table_of(WriterState(SCHEMA, spec, order, location, {}, properties).encoded())

    def files(self) -> Mapping[str, list[dict[str, Any]]]:
        keys = [key for key in self._store.keys(self._bucket) if key.endswith(".parquet")]
        read = {key: pq.read_table(BytesIO(self._store.get(self._bucket, key))) for key in keys}
        return {f"s3://{self._bucket}/{key}": rows.to_pylist() for key, rows in read.items()}

    def take_down(self) -> None:
        self._store.deny(Denial(self._bucket, "put"))


class DiskStorage:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        location = (folder / "t").as_uri()
        spec, order = UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER
        self.data_files: DataFiles = ParquetDataFiles(WriteBounds())
        self.table = table_of(WriterState(SCHEMA, spec, order, location, {}, {}).encoded())

    def files(self) -> Mapping[str, list[dict[str, Any]]]:
        paths = self._folder.rglob("*.parquet")
        return {path.as_uri(): pq.read_table(path).to_pylist() for path in paths}

    def take_down(self) -> None:
        # A file takes the folder's place, so that nothing can be written below it.
        (self._folder / "t").write_text("")
