"""Small tables of many small files, in every layout, and dimensions with duplicates and NULLs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

SCHEMA = "shop"
KEYS = 12
FACT_ROWS = 36
FIRST_DAY = date(1969, 12, 26)
NAMES = ("Ada", "Bo", "Cy", "Di", "O'Neil", "é", "", "Zoë", "a\\b", "x\ny", "Bob", "Adam")

FACT: Mapping[str, IcebergType] = {
    "id": LongType(),
    "k": IntegerType(),
    "b": LongType(),
    "day": DateType(),
    "at": TimestampType(),
    "at_utc": TimestamptzType(),
    "name": StringType(),
    "price": DecimalType(7, 2),
    "is_paid": BooleanType(),
    "weight": DoubleType(),
}
DIMENSION: Mapping[str, IcebergType] = {
    "k": IntegerType(),
    "big_k": LongType(),
    "text_k": StringType(),
    "wide_price": DecimalType(9, 2),
    "day": DateType(),
    "at": TimestampType(),
    "at_utc": TimestamptzType(),
    "name": StringType(),
    "price": DecimalType(7, 2),
    "is_paid": BooleanType(),
    "weight": DoubleType(),
    "year": IntegerType(),
    "parent": IntegerType(),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a fact's files: partition fields (source, transform), or a sort order."""

    partitions: tuple[tuple[str, Transform[Any, Any]], ...] = ()
    sorted_by: str | None = None
    properties: Mapping[str, str] | None = None


LAYOUTS: Mapping[str, Layout] = {
    "by_k": Layout((("k", IdentityTransform()),)),
    "by_day": Layout((("day", IdentityTransform()),)),
    "by_name": Layout((("name", IdentityTransform()),)),
    "by_price": Layout((("price", IdentityTransform()),)),
    "by_paid": Layout((("is_paid", IdentityTransform()),)),
    "by_bucket": Layout((("b", BucketTransform(8)),)),
    "by_name_bucket": Layout((("name", BucketTransform(5)),)),
    "by_day_of_at": Layout((("at", DayTransform()),)),
    "by_hour": Layout((("at_utc", HourTransform()),)),
    "by_month": Layout((("day", MonthTransform()),)),
    "by_year": Layout((("at", YearTransform()),)),
    "by_prefix": Layout((("name", TruncateTransform(1)),)),
    "by_tens": Layout((("b", TruncateTransform(5)),)),
    "by_both": Layout((("k", IdentityTransform()), ("b", BucketTransform(3)))),
    "sorted_by_k": Layout(sorted_by="k"),
    "unordered": Layout(),
    "by_pair": Layout((("k", IdentityTransform()), ("b", IdentityTransform()))),
}
FACTS = (*LAYOUTS, "evolved", "thinned", "vectored", "emptied", "never_filled")
DIMENSIONS = ("dim", "tiny", "parents")


def make_lakehouse(catalog: Catalog, spark: Callable[[str], object]) -> None:
    """Creates all tables in `SCHEMA`; `spark` writes what only Spark can write: deletes of positions."""
    catalog.create_namespace(SCHEMA)
    for seed, (name, layout) in enumerate(LAYOUTS.items()):
        table = created(catalog, name, FACT, layout)
        rows = fact_rows(seed)
        for part in parts(rows, layout.sorted_by):
            append(table, part)
    make_evolved(catalog, "evolved", fact_rows(96))
    _make_thinned(catalog, spark)
    _make_vectored(spark)
    emptied = created(catalog, "emptied", FACT, Layout((("k", IdentityTransform()),)))
    append(emptied, fact_rows(98)[:5])
    emptied.delete()
    created(catalog, "never_filled", FACT, Layout((("k", IdentityTransform()),)))
    append(created(catalog, "dim", DIMENSION, Layout()), dimension_rows(KEYS + 4))
    append(created(catalog, "tiny", DIMENSION, Layout()), dimension_rows(3))
    append(created(catalog, "parents", DIMENSION, Layout()), dimension_rows(5)[1:])


def fact_rows(seed: int) -> list[dict[str, Any]]:
    """Returns rows with each key several times and some NULLs; another seed gives other rows."""
    return [_fact_row(number, (number * 7 + seed) % (KEYS + 1), seed) for number in range(FACT_ROWS)]


def dimension_rows(count: int) -> list[dict[str, Any]]:
    """Returns rows with keys around those of the facts, the first one twice, and one row of NULLs."""
    keys: list[int | None] = [None, 0, *range(count - 2)]
    return [_dimension_row(number, key) for number, key in enumerate(keys)]


def _fact_row(number: int, key: int, seed: int) -> dict[str, Any]:
    is_null = key == KEYS

    def unless_null(value: Any) -> Any:
        return None if is_null else value

    return {
        "id": seed * 1000 + number,
        "k": unless_null(key - 1),
        "b": unless_null((key - 2) * (1 if number % 2 else 7)),
        "day": unless_null(FIRST_DAY + timedelta(days=key)),
        "at": unless_null(_moment(key, number % 3)),
        "at_utc": unless_null(_moment(key, number % 3).replace(tzinfo=UTC)),
        "name": unless_null(NAMES[key % len(NAMES)]),
        "price": unless_null(Decimal(key - 3) / 4 * 1),
        "is_paid": unless_null(key % 3 == 0),
        "weight": unless_null((key - 4) / 2),
    }


def _dimension_row(number: int, key: int | None) -> dict[str, Any]:
    if key is None:
        return dict.fromkeys(DIMENSION) | {"year": 2000, "parent": 1}
    return {
        "k": key - 1,
        "big_k": key - 2,
        "text_k": f"{key - 1:02}" if key % 2 else str(key - 1),
        "wide_price": Decimal(key - 3) / 4,
        "day": FIRST_DAY + timedelta(days=key),
        "at": _moment(key, number % 3),
        "at_utc": _moment(key, number % 3).replace(tzinfo=UTC),
        "name": NAMES[key % len(NAMES)],
        "price": Decimal(key - 3) / 4,
        "is_paid": key % 3 == 0,
        "weight": (key - 4) / 2,
        "year": 1998 + number % 4,
        "parent": number % 5,
    }


def _moment(key: int, hour: int) -> datetime:
    """Returns a moment that is sometimes midnight, so that dates and timestamps can be equal."""
    return datetime.combine(FIRST_DAY, datetime.min.time()) + timedelta(days=key, hours=hour * 7)


def created(catalog: Catalog, name: str, columns: Mapping[str, IcebergType], layout: Layout) -> Table:
    schema = _schema(columns)
    ids = {field.name: field.field_id for field in schema.fields}
    fields = (
        PartitionField(ids[source], 1000 + position, transform, f"{source}_part")
        for position, (source, transform) in enumerate(layout.partitions)
    )
    spec = PartitionSpec(*fields) if layout.partitions else UNPARTITIONED_PARTITION_SPEC
    order = (
        UNSORTED_SORT_ORDER
        if layout.sorted_by is None
        else SortOrder(SortField(ids[layout.sorted_by], IdentityTransform()))
    )
    properties = {"format-version": "2", **(layout.properties or {})}
    return catalog.create_table(
        f"{SCHEMA}.{name}", schema, partition_spec=spec, sort_order=order, properties=properties
    )


def _schema(columns: Mapping[str, IcebergType]) -> Schema:
    return Schema(
        *(NestedField(field_id, name, kind) for field_id, (name, kind) in enumerate(columns.items(), 1))
    )


def append(table: Table, rows: list[dict[str, Any]]) -> None:
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))


def parts(rows: list[dict[str, Any]], sorted_by: str | None) -> list[list[dict[str, Any]]]:
    """Splits rows into two commits for a partitioned table, or six disjoint ones for a sorted table."""
    if sorted_by is None:
        return [rows[: FACT_ROWS // 2], rows[FACT_ROWS // 2 :]]
    ordered = sorted(rows, key=lambda row: (row[sorted_by] is not None, row[sorted_by]))
    return [ordered[start : start + 6] for start in range(0, FACT_ROWS, 6)]


def make_evolved(catalog: Catalog, name: str, rows: list[dict[str, Any]]) -> Table:
    """Creates a table with files of three partition specs."""
    table = created(catalog, name, FACT, Layout((("k", IdentityTransform()),)))
    append(table, rows[:12])
    with table.update_spec() as update:
        update.add_field("b", BucketTransform(4), "b_bucket")
    append(table, rows[12:24])
    with table.update_spec() as update:
        update.remove_field("k_part")
        update.add_field("at", DayTransform(), "at_day")
    append(table, rows[24:])
    return table


def _make_thinned(catalog: Catalog, spark: Callable[[str], object]) -> None:
    """Creates a table with position deletes: of some rows in some files, and of all rows in one file."""
    properties = {"write.delete.mode": "merge-on-read"}
    table = created(catalog, "thinned", FACT, Layout((("k", IdentityTransform()),), properties=properties))
    append(table, fact_rows(97))
    spark(f"DELETE FROM lake.{SCHEMA}.thinned WHERE id % 3 = 0")
    spark(f"DELETE FROM lake.{SCHEMA}.thinned WHERE k = 4 AND id > 0")


def _make_vectored(spark: Callable[[str], object]) -> None:
    """Creates a table of format version 3 with deletion vectors, one of which has replaced another one."""
    name = f"lake.{SCHEMA}.vectored"
    columns = ", ".join(column for column in FACT if column != "id")
    rows = f"SELECT id + 99000 AS id, {columns} FROM lake.{SCHEMA}.by_k"
    spark(
        f"CREATE TABLE {name} USING iceberg PARTITIONED BY (k)"
        " TBLPROPERTIES ('format-version'='3', 'write.delete.mode'='merge-on-read')"
        f" AS {rows} WHERE id % 2 = 0"
    )
    spark(f"INSERT INTO {name} {rows} WHERE id % 2 = 1")
    spark(f"DELETE FROM {name} WHERE id % 3 = 0")
    spark(f"DELETE FROM {name} WHERE k = 4 AND id > 0 OR b = 7")
