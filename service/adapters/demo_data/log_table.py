"""The demo's log table: 500 columns; each log type fills some of them."""

from __future__ import annotations

from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestamptzType

from service.adapters.catalogs.check_unambiguous import check_unambiguous

LOG_TYPES = ("http", "auth", "db", "cache", "queue", "billing", "search", "mail")
SHARED = ("event_time", "log_type", "user_id", "message")
COLUMNS = 500
OF_A_TYPE = (COLUMNS - len(SHARED)) // len(LOG_TYPES)

_BY_DAY = PartitionSpec(PartitionField(1, 1000, DayTransform(), "event_day"))


def make_log_table(catalog: Catalog, name: str) -> None:
    """Creates the table, partitioned by day, if it does not exist.

    Raises:
        CreationInvalid: its name is ambiguous.
    """
    if catalog.table_exists(name):
        return
    *schema, table = name.split(".")
    check_unambiguous(catalog, schema, table)
    catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
    properties = {"format-version": "2"}
    catalog.create_table_if_not_exists(name, log_schema(), partition_spec=_BY_DAY, properties=properties)


def log_schema() -> Schema:
    """Returns the shared columns, then each type's own: `http_00` is a string, `http_01` a number, and so on.

    >>> len(log_schema().fields)
    500
    """
    shared = (
        NestedField(1, SHARED[0], TimestamptzType(), required=True),
        NestedField(2, SHARED[1], StringType(), required=True),
        NestedField(3, SHARED[2], LongType()),
        NestedField(4, SHARED[3], StringType()),
    )
    kinds = (StringType(), LongType(), DoubleType())
    names = [f"{log_type}_{number:02}" for log_type in LOG_TYPES for number in range(OF_A_TYPE)]
    own = (
        NestedField(len(SHARED) + 1 + place, name, kinds[int(name[-2:]) % len(kinds)])
        for place, name in enumerate(names)
    )
    return Schema(*shared, *own)
