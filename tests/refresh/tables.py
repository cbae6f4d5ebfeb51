"""A fact that grows, and a dimension that does not."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
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

SCHEMA = "growing"
KEYS = 6
NAMES = ("a", "B", "é", "", "a b", "Z")
FIRST_DAY = date(2024, 2, 27)
FACT: Mapping[str, IcebergType] = {
    "id": LongType(),
    "k": IntegerType(),
    "name": StringType(),
    "day": DateType(),
    "at": TimestampType(),
    "at_utc": TimestamptzType(),
    "small": IntegerType(),
    "big": LongType(),
    "price": DecimalType(7, 2),
    "amount": DecimalType(18, 4),
    "long_amount": DecimalType(28, 6),
    "wide": DecimalType(38, 10),
    "is_paid": BooleanType(),
    "weight": DoubleType(),
}
DIMENSION: Mapping[str, IcebergType] = {
    "dk": IntegerType(),
    "label": StringType(),
    "year": IntegerType(),
    "rate": DecimalType(5, 3),
}


def make_table(
    catalog: Catalog, name: str, columns: Mapping[str, IcebergType], partitioned_by: str | None = None
) -> Table:
    schema = Schema(
        *(NestedField(number, column, kind) for number, (column, kind) in enumerate(columns.items(), 1))
    )
    spec = UNPARTITIONED_PARTITION_SPEC
    if partitioned_by is not None:
        source = schema.find_field(partitioned_by).field_id
        spec = PartitionSpec(PartitionField(source, 1000, IdentityTransform(), f"{partitioned_by}_part"))
    return catalog.create_table(
        f"{SCHEMA}.{name}", schema, partition_spec=spec, properties={"format-version": "2"}
    )


def in_arrow(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=table.schema().as_arrow())


def fact_rows(random: Random, count: int, *, is_huge: bool = False) -> list[dict[str, Any]]:
    """Returns rows; with `is_huge`, some of them make sums overflow."""
    return [_fact_row(random, is_huge) for _ in range(count)]


def _fact_row(random: Random, is_huge: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": random.randrange(1_000_000),
        "k": random.randrange(KEYS),
        "name": random.choice(NAMES),
        "day": FIRST_DAY + timedelta(days=random.randrange(5)),
        "at": datetime(2024, 2, 28, 23) + timedelta(minutes=random.randrange(300)),
        "at_utc": datetime(2024, 3, 31, tzinfo=UTC) + timedelta(minutes=random.randrange(300)),
        "small": random.randrange(-3, 4),
        "big": random.choice((random.randrange(-9, 10), random.randrange(-(10**12), 10**12))),
        "price": Decimal(random.randrange(-9_999_999, 10**7)) / 100,
        "amount": Decimal(random.randrange(-(10**9), 10**9)) / 10_000,
        "long_amount": Decimal(random.randrange(-(10**20), 10**20)) / 10**6,
        "wide": Decimal(random.randrange(-(10**20), 10**20)) / 10**10,
        "is_paid": random.random() < 0.5,
        # Sums of these are exact in any order.
        "weight": random.randrange(-999, 1_000) / 8,
    }
    if is_huge and random.random() < 0.5:
        row["big"] = random.choice((2**62, -(2**62)))
        row["wide"] = random.choice((1, -1)) * Decimal(10) ** 27 * 6
    return {
        column: None if column != "id" and random.random() < 0.08 else value for column, value in row.items()
    }


def dimension_rows(random: Random) -> list[dict[str, Any]]:
    return [
        {
            "dk": key,
            "label": random.choice(NAMES),
            "year": random.choice((2000, 2001, None)),
            "rate": Decimal(random.randrange(-9999, 10_000)) / 1000,
        }
        for key in (*range(KEYS - 1), 0 if random.random() < 0.3 else 77)
    ]
