"""A table in a catalog of its own, the scans that queries would record of it, and what they would read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.expressions import (
    AlwaysTrue,
    And,
    BooleanExpression,
    GreaterThanOrEqual,
    LessThanOrEqual,
    Reference,
)
from pyiceberg.expressions.literals import literal
from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DateType, DecimalType, LongType, NestedField, StringType, TimestampType

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.layouts.iceberg_layouts import IcebergLayouts
from service.model.query.layout_advice import ReadAmount
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.table_layout import TableLayout
from service.model.tables.tables import TableName
from service.ports.tables.table_layouts import LayoutBounds
from tests.fakes.clock import FakeClock

SALES = TableName("lake", "shop", "sales")
SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "day", DateType()),
    NestedField(3, "city", StringType()),
    NestedField(4, "price", DecimalType(9, 2)),
    NestedField(5, "at", TimestampType()),
    NestedField(6, "text", StringType()),
)
BOUNDS = LayoutBounds(max_files=1_000, max_sampled_files=100, max_sampled_rows=100_000, timeout_s=60)


class Lakehouse:
    """Has the table `lake.shop.sales`."""

    def __init__(self, folder: Path, spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC) -> None:
        properties = {
            "type": "sql",
            "uri": f"sqlite:///{folder}/lake.db",
            "warehouse": f"file://{folder}",
        }
        self.clock = FakeClock()
        self.catalogs = PyIcebergCatalogs({"lake": properties}, self.clock)
        catalog = self.catalogs.pyiceberg("lake")
        catalog.create_namespace("shop")
        catalog.create_table("shop.sales", SCHEMA, partition_spec=spec)
        self._listed: tuple[str, Sequence[DataFile]] = ("", ())
        self.layouts = IcebergLayouts(self.catalogs.opened, self.clock)

    @property
    def table(self) -> Table:
        return self.catalogs.pyiceberg("lake").load_table("shop.sales")

    def append(self, rows: pa.Table, files: int = 1) -> None:
        """Commits the rows in files of about equal length, in their order."""
        size = -(-rows.num_rows // files)
        table = self.table
        for start in range(0, rows.num_rows, size):
            table.append(rows.slice(start, size).cast(table.schema().as_arrow()))

    def rewrite(self, rows: pa.Table, files: int) -> None:
        """Replaces all files."""
        self.table.delete()
        self.append(rows, files)

    def set_target(self, file_bytes: int) -> None:
        """Sets the size that the table's files should have."""
        self.set_property("write.target-file-size-bytes", str(file_bytes))

    def set_property(self, name: str, value: str) -> None:
        """Sets a property of the table."""
        self.table.transaction().set_properties({name: value}).commit_transaction()

    def rows(self) -> pa.Table:
        return self.table.scan().to_arrow()

    def _files(self) -> Sequence[DataFile]:
        location = self.table.metadata_location
        if location != self._listed[0]:
            self._listed = (location, [task.file for task in self.table.scan().plan_files()])
        return self._listed[1]

    def layout(self, *columns: str, **bounds: Any) -> TableLayout:
        return self.layouts.layout(SALES, columns, replace(BOUNDS, **bounds))

    def scan(self, **ranges: tuple[Any, Any]) -> ScanRecord:
        """Returns the record of a scan with a range of values in each of these columns."""
        total = self._files()
        condition = _InclusiveMetricsEvaluator(SCHEMA, _condition(ranges))
        files = [file for file in total if condition.eval(file)]
        nothing = Selection(0, 0)
        metrics = PruningMetrics(
            partitions=nothing,
            manifests=nothing,
            data_files=Selection(len(total), len(files)),
            bytes=Selection(
                sum(file.file_size_in_bytes for file in total), sum(file.file_size_in_bytes for file in files)
            ),
            rows=nothing,
            planning_ms=0,
        )
        predicates = tuple(
            ScanPredicate(column, ((_in_json(lower), _in_json(upper)),))
            for column, (lower, upper) in ranges.items()
        )
        return ScanRecord(str(SALES), 1, metrics, predicates=predicates)

    def close(self) -> None:
        self.catalogs.close()


def read_by(scans: Sequence[ScanRecord]) -> ReadAmount:
    """Returns the sum of these scans, by their records."""
    return ReadAmount(
        sum(scan.metrics.data_files.selected for scan in scans),
        sum(scan.metrics.bytes.selected for scan in scans),
    )


def _condition(ranges: Mapping[str, tuple[Any, Any]]) -> BooleanExpression:
    found: BooleanExpression = AlwaysTrue()
    for column, bounds in ranges.items():
        term = Reference(column)
        lower, upper = (literal(_in_iceberg(bound)) for bound in bounds)
        found = And(found, GreaterThanOrEqual(term=term, value=lower))
        found = And(found, LessThanOrEqual(term=term, value=upper))
    return found


def _in_iceberg(value: Any) -> Any:
    """Days and moments as PyIceberg takes them."""
    return value.isoformat() if hasattr(value, "isoformat") else value


def _in_json(value: Any) -> int | str:
    """Values as Iceberg writes them in the JSON of a filter."""
    scalar = pa.scalar(value)
    if pa.types.is_date(scalar.type):
        return int(scalar.cast(pa.int32()).as_py())
    if pa.types.is_timestamp(scalar.type):
        return int(scalar.cast(pa.timestamp("us")).cast(pa.int64()).as_py())
    return value if isinstance(value, int) else str(value)
