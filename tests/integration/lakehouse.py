"""A small star schema, written by PyIceberg, and an oracle that counts the files themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

FIRST_DAY = 2_451_545
DAYS = 40
DAYS_PER_MONTH = 10
RETURNS_PER_FILE = 25
RETURN_FILES = 8

SALES = Schema(
    NestedField(1, "sale_id", LongType()),
    NestedField(2, "day_key", IntegerType()),
    NestedField(3, "amount", DecimalType(7, 2)),
)
CALENDAR = Schema(
    NestedField(1, "day_key", IntegerType()),
    NestedField(2, "month", IntegerType()),
    NestedField(3, "day_name", StringType()),
)
RETURNS = Schema(NestedField(1, "return_id", LongType()), NestedField(2, "reason", StringType()))
EVERY_TYPE = Schema(
    NestedField(1, "id", IntegerType(), required=True),
    NestedField(2, "a_boolean", BooleanType()),
    NestedField(3, "a_long", LongType()),
    NestedField(4, "a_float", FloatType()),
    NestedField(5, "a_double", DoubleType()),
    NestedField(6, "a_decimal", DecimalType(38, 10)),
    NestedField(7, "a_date", DateType()),
    NestedField(8, "a_timestamp", TimestampType()),
    NestedField(9, "a_timestamptz", TimestamptzType()),
    NestedField(10, "a_string", StringType()),
    NestedField(11, "a_binary", BinaryType()),
    NestedField(12, "a_fixed", FixedType(4)),
    NestedField(13, "a_list", ListType(17, IntegerType(), False)),
    NestedField(14, "a_map", MapType(18, StringType(), 19, DoubleType(), False)),
    NestedField(15, "an_int_map", MapType(20, IntegerType(), 21, StringType(), False)),
    NestedField(
        16,
        "a_struct",
        StructType(
            NestedField(22, "x", IntegerType()),
            NestedField(23, "deep", ListType(24, StructType(NestedField(25, "y", DecimalType(5, 2))), False)),
        ),
    ),
)
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day_key"))


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file on disk."""

    path: Path
    size: int
    rows: int


def make_star(catalog: Catalog) -> None:
    """Creates `shop` with its tables, and `shop_archive` with a table of almost the same name."""
    for namespace in ("shop", "shop_archive"):
        catalog.create_namespace(namespace)
    sales = make(catalog, "shop.sales", SALES, BY_DAY)
    for month in range(DAYS // DAYS_PER_MONTH):
        sales.append(_sales(range(month * DAYS_PER_MONTH, (month + 1) * DAYS_PER_MONTH)))
    make(catalog, "shop.calendar", CALENDAR).append(_calendar())
    ascending = SortOrder(SortField(1, IdentityTransform()))
    returns = make(catalog, "shop.returns", RETURNS, order=ascending)
    for index in range(RETURN_FILES):
        returns.append(_returns(index * RETURNS_PER_FILE))
    make(catalog, "shop.nothing", RETURNS)
    every_type = make(catalog, "shop.every_type", EVERY_TYPE)
    every_type.append(_every_type_rows(every_type.schema().as_arrow()))
    make(catalog, "shop_archive.sales_2019", SALES)


def make(
    catalog: Catalog,
    name: str,
    schema: Schema,
    spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
    order: SortOrder = UNSORTED_SORT_ORDER,
) -> Table:
    """Creates an empty table."""
    return catalog.create_table(name, schema, partition_spec=spec, sort_order=order)


def sales_on(day: int) -> int:
    """Returns the number of sales of a day, which differs for every day."""
    return 10 + day


def _sales(days: range) -> pa.Table:
    found = [
        {"sale_id": day * 1000 + number, "day_key": FIRST_DAY + day, "amount": Decimal("1.25")}
        for day in days
        for number in range(sales_on(day))
    ]
    return pa.Table.from_pylist(found, schema=SALES.as_arrow())


def _calendar() -> pa.Table:
    found = [
        {"day_key": FIRST_DAY + day, "month": 1 + day // DAYS_PER_MONTH, "day_name": f"day {day}"}
        for day in range(DAYS)
    ]
    return pa.Table.from_pylist(found, schema=CALENDAR.as_arrow())


def _returns(first: int) -> pa.Table:
    found = [{"return_id": first + number, "reason": "torn"} for number in range(RETURNS_PER_FILE)]
    return pa.Table.from_pylist(found, schema=RETURNS.as_arrow())


def returns_row(return_id: int) -> pa.Table:
    """Returns one row for a table of schema `RETURNS`."""
    return pa.Table.from_pylist([{"return_id": return_id, "reason": "new"}], schema=RETURNS.as_arrow())


def _every_type_rows(schema: pa.Schema) -> pa.Table:
    """Returns one row of values, one of NULLs, and two of numbers that JSON cannot represent."""
    values: dict[str, Any] = {
        "id": 1,
        "a_boolean": True,
        "a_long": 9_223_372_036_854_775_807,
        "a_float": 0.1,
        "a_double": -2.5e-300,
        "a_decimal": Decimal("-1234567890123456789012345678.0000000001"),
        "a_date": date(1582, 10, 15),
        "a_timestamp": datetime(2024, 2, 29, 23, 59, 59, 999_999),
        "a_timestamptz": datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC),
        "a_string": 'é "quoted" \\ 😀\n',
        "a_binary": b"\x00\xff\x10",
        "a_fixed": b"\x01\x02\x03\x04",
        "a_list": [1, None, 3],
        "a_map": {"one": 1.5, "none": None},
        "an_int_map": {7: "seven"},
        "a_struct": {"x": 5, "deep": [{"y": Decimal("1.50")}, None]},
    }
    strange = [
        {"id": 3, "a_double": float("nan"), "a_float": float("nan")},
        {"id": 4, "a_double": float("-inf"), "a_float": float("inf"), "a_list": [], "a_map": {}},
    ]
    return pa.Table.from_pylist([values, {"id": 2}, *strange], schema=schema)


def files_of(table: Table, is_wanted: Callable[[Path], bool] = lambda _: True) -> list[DataFile]:
    """Returns the files on disk. All belong to the current snapshot, as nothing is ever deleted."""
    folder = Path(table.location().removeprefix("file://")) / "data"
    found = sorted(path for path in folder.rglob("*.parquet") if is_wanted(path))
    return [DataFile(path, path.stat().st_size, pq.read_metadata(path).num_rows) for path in found]
