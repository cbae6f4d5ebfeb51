"""A trial ingest without the commit, at a location that belongs to no table."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog
from pyiceberg.io import load_file_io
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import LongType, NestedField, StringType

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.commits.writable_tables import storage_properties
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import Sync, path_on_disk
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import TableKey, WritableTable, WriteTarget
from service.model.tables.tables import TableName

FOLDER = ".sluice-doctor"
_SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType()))
_ROWS = pa.RecordBatch.from_pydict({"id": pa.array([1, 2, 3], pa.int64()), "name": ["one", "two", None]})


def scratch_location(catalog: Catalog, properties: Mapping[str, str]) -> str | None:
    """A new location in the catalog's warehouse, or in a namespace's; None if neither has an address."""
    warehouse = properties.get("warehouse", catalog.properties.get("warehouse", ""))
    parent = warehouse if _is_address(warehouse) else _namespace_location(catalog)
    return None if parent is None else f"{parent.rstrip('/')}/{FOLDER}/{uuid4().hex}"


def trial_ingest(catalog: Catalog, location: str, sync: Sync) -> int:
    """Writes a small Parquet file with the ingest's writer, reads it back and deletes it; returns its bytes.

    It does not create or change a table, and leaves nothing at the location, whatever happens.

    Raises:
        StorageDown: the storage does not accept the file, returns other rows, or does not delete it.
    """
    state = WriterState(
        _SCHEMA,
        UNPARTITIONED_PARTITION_SPEC,
        UNSORTED_SORT_ORDER,
        location,
        {},
        storage_properties(catalog.properties),
    )
    key = TableKey(TableName(catalog.name, "sluice_doctor", "trial"))
    table = WritableTable(key, uuid4(), 2, table_schema(_SCHEMA), 0, (), (), state.encoded())
    target = WriteTarget(key, _SCHEMA.schema_id, UNPARTITIONED_PARTITION_SPEC.spec_id)
    files = ParquetDataFiles(WriteBounds(), sync)
    try:
        written = files.write(table, target, [_ROWS])
        [path] = locations_of(written.data_files)
        try:
            _check_rows(state, path)
        finally:
            files.discard(table, written)
        _check_gone(state, path)
        return written.byte_count
    finally:
        _remove_folders(location)


def _check_rows(state: WriterState, path: str) -> None:
    try:
        with load_file_io(dict(state.io_properties), path).new_input(path).open() as file:
            rows = pq.read_table(file)
    except OSError as error:
        raise StorageDown("The file was written, but cannot be read back.") from error
    if rows.to_pydict() != _ROWS.to_pydict():
        raise StorageDown("The storage returned other rows than were written.")


def _check_gone(state: WriterState, path: str) -> None:
    try:
        is_there = load_file_io(dict(state.io_properties), path).new_input(path).exists()
    except OSError as error:
        raise StorageDown("It is unknown whether the file was deleted.") from error
    if is_there:
        raise StorageDown(f"The file was written, but cannot be deleted: remove {path}.")


def _remove_folders(location: str) -> None:
    """Removes folders, which remain on a disk when their files are deleted."""
    path = path_on_disk(location)
    if path is not None:
        shutil.rmtree(path, ignore_errors=True)
        # Another `sluice doctor` may run at the same time.
        with suppress(OSError):
            path.parent.rmdir()


def _namespace_location(catalog: Catalog) -> str | None:
    for namespace in catalog.list_namespaces():
        location = str(catalog.load_namespace_properties(namespace).get("location", ""))
        if _is_address(location):
            return location
    return None


def _is_address(location: str) -> bool:
    return "://" in location or location.startswith(("/", "file:"))
