"""Which columns of a snapshot the engine cannot be asked about."""

from __future__ import annotations

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimeType,
)

from service.adapters.commits.superseding.asked_keys import defaulted_column, unreadable_column

ID = NestedField(1, "id", LongType())
ADDED = NestedField(2, "level", IntegerType())
WITH_DEFAULT = NestedField(2, "level", IntegerType(), initial_default=5)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (TimestampType(), None),
        (TimeType(), "at"),
        (TimestampNanoType(), "at"),
        (TimestamptzNanoType(), "at"),
        (StructType(NestedField(3, "ns", TimestampNanoType())), "at.ns"),
    ],
    ids=["us", "time", "ns", "ns-zoned", "nested"],
)
def test_spark_reads_no_snapshot_that_has_a_type_that_it_lacks(
    kind: IcebergType, expected: str | None
) -> None:
    assert unreadable_column(Schema(ID, NestedField(2, "at", kind)), {1}) == expected


@pytest.mark.parametrize(
    ("before", "now", "wanted", "expected"),
    [
        (Schema(ID), Schema(ID, WITH_DEFAULT), {1, 2}, "level"),
        (Schema(ID), Schema(ID, WITH_DEFAULT), {1}, None),
        (Schema(ID), Schema(ID, ADDED), {1, 2}, None),
        (Schema(ID, WITH_DEFAULT), Schema(ID, WITH_DEFAULT), {1, 2}, None),
    ],
    ids=["added", "of-no-key", "null", "there-before"],
)
def test_a_column_that_was_added_since_the_snapshot_may_have_a_default(
    before: Schema, now: Schema, wanted: set[int], expected: str | None
) -> None:
    assert defaulted_column(before, now, wanted) == expected
