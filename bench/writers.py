"""Three writers of the same rows of many log types to a wide table: the gateway's parts, and two peers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import psutil
import pyarrow as pa
from pyiceberg.table import Table
from pyspark.sql import SparkSession

from bench.lakehouse import Lake
from bench.tpcds_lake import open_catalog
from bench.wide_logs import log_schema
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.metrics.content_files import data_file
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import MAIN, Committable, Destination, WritableTable, WriteTarget
from service.model.tables.tables import TableName

Batches = Sequence[pa.Table]
"""One table for each log type, with its columns alone."""


@dataclass(frozen=True, slots=True)
class Written:
    """The cost of writing and committing, in this process and its JVM, and the resulting files."""

    took_s: float
    cpu_s: float
    added_bytes: int
    added_files: int


class Projected:
    """The gateway's writer and its commit: each log type in files of its own columns, one snapshot."""

    def __init__(self, lake: Lake, table: str, stack: ExitStack) -> None:
        catalogs = PyIcebergCatalogs(lake.catalogs, SystemClock())
        stack.callback(catalogs.close)
        self._name = TableName(*table.split("."))
        self._tables = PyIcebergWritableTables(catalogs)
        self._files = ParquetDataFiles(WriteBounds(buffered_bytes=64 << 20, open_files=16))
        self._commits = PyIcebergTableCommits(catalogs, data_file)

    def write(self, batches: Batches) -> None:
        """Writes and commits, as the gateway does for an ingest with many `writes`."""
        table = self._tables.writable(self._name, MAIN)
        destinations = [Destination(table, _target(table, batch.column_names)) for batch in batches]
        rows = (
            (destination, batch)
            for destination, batch_of_target in zip(destinations, batches, strict=True)
            for batch in batch_of_target.to_batches()
        )
        results = tuple(self._files.write_all(rows))
        self._commits.commit(Committable(table.key, uuid4(), (), results))


class PyIcebergPadded:
    """PyIceberg's `append` of all columns; a column that a log type does not have is NULL."""

    def __init__(self, lake: Lake, table: str, stack: ExitStack, rows_at_once: int) -> None:
        self._catalog = stack.enter_context(open_catalog(lake))
        self._name = table.removeprefix("lake.")
        self._rows_at_once = rows_at_once

    def write(self, batches: Batches) -> None:
        """Writes and commits: one snapshot for as many rows as fit into memory when they are padded."""
        with self._catalog.load_table(self._name).transaction() as transaction:
            for group in _groups(batches, self._rows_at_once):
                transaction.append(padded(group))


class SparkPadded:
    """Spark's `writeTo(…).append()` of all columns, from Arrow."""

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark = spark
        self._table = table
        spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    def write(self, batches: Batches) -> None:
        """Writes and commits. Rows stay in their task: a shuffle would only cost time."""
        frame = self._spark.createDataFrame(padded(batches))
        frame.writeTo(self._table).option("distribution-mode", "none").option(
            "fanout-enabled", "true"
        ).append()


def padded(batches: Batches) -> pa.Table:
    """Returns all rows with all columns of the table, in one chunk: Spark makes a task and files of each."""
    rows = pa.concat_tables([_NO_ROWS, *batches], promote_options="permissive")
    return rows.select(_PADDED.names).cast(_PADDED).combine_chunks()


def timed(write: Callable[[Batches], None], batches: Batches, table: Table) -> Written:
    """Writes the rows, and looks at the snapshots that this made."""
    before = {snapshot.snapshot_id for snapshot in table.refresh().snapshots()}
    cpu_s, began = _cpu_s(), time.perf_counter()
    write(batches)
    took_s, cpu_s = time.perf_counter() - began, _cpu_s() - cpu_s
    made = [snapshot for snapshot in table.refresh().snapshots() if snapshot.snapshot_id not in before]
    summaries = [snapshot.summary.additional_properties for snapshot in made if snapshot.summary is not None]
    return Written(
        took_s,
        cpu_s,
        sum(int(summary["added-files-size"]) for summary in summaries),
        sum(int(summary["added-data-files"]) for summary in summaries),
    )


def _target(table: WritableTable, names: Sequence[str]) -> WriteTarget:
    ids = {column.name: column.field_id for column in table.schema.columns}
    column_ids = tuple(ids[name] for name in names)
    return WriteTarget(
        table.key,
        table.schema.schema_id,
        table.spec_id,
        write_schema_column_ids=column_ids,
        table_uuid=table.table_uuid,
    )


def _groups(batches: Batches, rows_at_once: int) -> Sequence[Batches]:
    groups: list[list[pa.Table]] = [[]]
    for batch in batches:
        if groups[-1] and sum(map(len, groups[-1])) + len(batch) > rows_at_once:
            groups.append([])
        groups[-1].append(batch)
    return groups


def _cpu_s() -> float:
    process = psutil.Process()
    every = [process, *(child for child in process.children(recursive=True) if child.name() == "java")]
    return sum(process.cpu_times().user + process.cpu_times().system for process in every)


def _plain(kind: pa.DataType) -> pa.DataType:
    # PyIceberg's own schema says large_string: it would copy string columns.
    return pa.string() if pa.types.is_large_string(kind) else kind


_PADDED = pa.schema(
    [pa.field(field.name, _plain(field.type), field.nullable) for field in log_schema().as_arrow()]
)
_NO_ROWS = pa.schema([pa.field(field.name, field.type) for field in _PADDED]).empty_table()
