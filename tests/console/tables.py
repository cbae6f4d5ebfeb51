"""Tables for the console: facts of many files with their dates, small files, and hostile names and values."""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DecimalType, IntegerType, LongType, NestedField, StringType

DAYS = 120
SALES_A_DAY = 50
CLICK_FILES = 6
HOSTILE = "<img src=x onerror=hacked=1>"
HOSTILE_TABLE = "<b onclick=hacked=1>'\"b"
HOSTILE_SCHEMA = "odd"
_SALES = Schema(
    NestedField(1, "sale_id", LongType()),
    NestedField(2, "day_key", IntegerType()),
    NestedField(3, "amount", DecimalType(9, 2)),
    NestedField(4, "note", StringType()),
)
_CALENDAR = Schema(
    NestedField(1, "day_key", IntegerType()),
    NestedField(2, "month", IntegerType()),
    NestedField(3, "day_name", StringType()),
)
_VISITS = Schema(
    NestedField(1, "visit_id", LongType(), required=True),
    NestedField(2, "page", StringType()),
    NestedField(3, "took_ms", IntegerType()),
    NestedField(4, "note", StringType()),
)
_CLICKS = Schema(NestedField(1, "click_id", LongType()), NestedField(2, "page", StringType()))
_BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day_key"))
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def make_tables(catalog: Catalog) -> None:
    """Makes `lake.shop` with its tables, and beside it a hostile one, and an empty one for records."""
    catalog.create_namespace_if_not_exists("shop")
    catalog.create_table("shop.sales", _SALES, partition_spec=_BY_DAY).append(_sales())
    catalog.create_namespace_if_not_exists("inbox")
    catalog.create_table("inbox.visits", _VISITS)
    calendar = catalog.create_table("shop.calendar", _CALENDAR, properties={"comment": "the days of sales"})
    calendar.append(_calendar())
    calendar.manage_snapshots().create_tag(calendar.metadata.current_snapshot_id or 0, "first").commit()
    clicks = catalog.create_table("shop.clicks", _CLICKS)
    for number in range(CLICK_FILES):
        clicks.append(pa.table({"click_id": pa.array([number], pa.int64()), "page": [f"/{number}"]}))
    hostile = Schema(NestedField(1, HOSTILE, StringType()))
    rows = pa.table({HOSTILE: pa.array([HOSTILE, "</td><script>hacked=1</script>", None, "", "NULL"])})
    catalog.create_namespace_if_not_exists(HOSTILE_SCHEMA)
    catalog.create_table((HOSTILE_SCHEMA, HOSTILE_TABLE), hostile).append(rows)


def _sales() -> pa.Table:
    days = [day for day in range(DAYS) for _ in range(SALES_A_DAY)]
    count = range(len(days))
    amounts = pa.array([f"{(number * 37) % 9973}.{number % 100:02}" for number in count]).cast(
        pa.decimal128(9, 2)
    )
    notes = pa.array(
        [None if number % 3 == 0 else "" if number % 3 == 1 else f"note {number}" for number in count]
    )
    return pa.table(
        {
            "sale_id": pa.array(count, pa.int64()),
            "day_key": pa.array(days, pa.int32()),
            "amount": amounts,
            "note": notes,
        }
    )


def _calendar() -> pa.Table:
    return pa.table(
        {
            "day_key": pa.array(range(DAYS), pa.int32()),
            "month": pa.array([1 + day // 30 for day in range(DAYS)], pa.int32()),
            "day_name": pa.array([_NAMES[day % 7] for day in range(DAYS)]),
        }
    )
