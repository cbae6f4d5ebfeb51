"""A table with one writer, for questions about the values of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Protocol

import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    NestedField,
    StringType,
    TimestamptzType,
)

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.probe_values.combine_intervals import column_values
from service.adapters.probe_values.manifest_intervals import CachedIntervals
from service.adapters.probe_values.probe_values import ManifestProbeValues
from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.tables.tables import TableName
from service.ports.filters.filter_keys import ProbeValues
from tests.fakes.clock import FakeClock
from tests.fakes.probe_values import FakeProbeValues

SALES = TableName("lake", "shop", "sales")
FILE_BYTES = 1_000
SCHEMA = Schema(
    NestedField(1, "sale_id", IntegerType()),
    NestedField(2, "day", DateType()),
    NestedField(3, "city", StringType()),
    NestedField(4, "amount", DecimalType(7, 2)),
    NestedField(5, "sold_at", TimestamptzType()),
    NestedField(6, "weight", DoubleType()),
)
Row = Mapping[str, Any]


class ProbeLakehouse(Protocol):
    @property
    def values(self) -> ProbeValues: ...

    def append(self, rows: Sequence[Row]) -> int:
        """Commits a data file for each day, and returns the snapshot's id. Missing columns are NULL."""

    def settle(self) -> None:
        """Waits until all earlier questions are answered."""


class FakeProbeLakehouse:
    def __init__(self) -> None:
        self.values = FakeProbeValues()
        self._rows: list[Row] = []
        self._snapshot_id = 0

    def append(self, rows: Sequence[Row]) -> int:
        self._rows += rows
        self._snapshot_id += 1
        for column in SCHEMA.column_names:
            if column != "weight":
                self.values.put(SALES, self._snapshot_id, column, self._column(column))
        return self._snapshot_id

    def settle(self) -> None:
        self.values.settle()

    def _column(self, column: str) -> ColumnValues | NotKnown:
        files: dict[Any, list[Any]] = {}
        for row in self._rows:
            if (value := row.get(column)) is not None:
                files.setdefault(row["day"], []).append(value)
        intervals = Counter((min(file), max(file)) for file in files.values())
        byte_counts = Counter({interval: count * FILE_BYTES for interval, count in intervals.items()})
        return column_values(CachedIntervals(intervals, byte_counts))


class PyIcebergProbeLakehouse:
    def __init__(self, directory: Path, max_files: int = 1_000) -> None:
        properties = {
            "type": "sql",
            "uri": f"sqlite:///{directory}/lake.db",
            "warehouse": f"file://{directory}",
            "py-io-impl": "tests.fakes.counting_file_io.CountingFileIO",
        }
        self.catalogs = PyIcebergCatalogs({"lake": properties}, FakeClock())
        self._executor = ThreadPoolExecutor(1)
        self.values = ManifestProbeValues(self.catalogs.opened, lambda _: self._executor, max_files)
        catalog = self.catalogs.pyiceberg("lake")
        catalog.create_namespace("shop")
        by_day = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
        catalog.create_table("shop.sales", SCHEMA, partition_spec=by_day)

    @property
    def table(self) -> Table:
        return self.catalogs.pyiceberg("lake").load_table("shop.sales")

    def append(self, rows: Sequence[Row]) -> int:
        table = self.table
        table.append(pa.Table.from_pylist(list(rows), schema=table.schema().as_arrow()))
        snapshot = table.current_snapshot()
        assert snapshot is not None
        return snapshot.snapshot_id

    def settle(self) -> None:
        # The only thread runs this after all earlier questions.
        self._executor.submit(lambda: None).result()

    @contextmanager
    def is_stopped(self) -> Iterator[None]:
        """Answers no question until the block ends."""
        is_over = Event()
        self._executor.submit(is_over.wait)
        try:
            yield
        finally:
            is_over.set()

    def close(self) -> None:
        self._executor.shutdown()
        self.catalogs.close()
