from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import UnknownTransform, parse_transform
from pyiceberg.types import BooleanType, DoubleType, FloatType, LongType, NestedField, StructType, UUIDType

from service.adapters.data_files.layout.columns import column_places
from service.adapters.data_files.layout.sorting import is_sortable, sorted_rows
from tests.unit.adapters.data_files.states import order_of

UP, DOWN = SortDirection.ASC, SortDirection.DESC
FIRST, LAST = NullOrder.NULLS_FIRST, NullOrder.NULLS_LAST
INNER = StructType(NestedField(3, "x", LongType()))
SCHEMA = Schema(NestedField(1, "a", LongType()), NestedField(2, "s", INNER))
PLACES = column_places(SCHEMA)


def in_order(values: list[Any], kind: Any, iceberg: Any, by: SortDirection, nulls: NullOrder) -> list[Any]:
    places = column_places(Schema(NestedField(1, "a", iceberg)))
    table = pa.table({"a": pa.array(values, kind)})
    return list(sorted_rows(table, order_of((1, by, nulls)), places)["a"].to_pylist())


@pytest.mark.parametrize(
    ("by", "nulls", "expected"),
    [
        (UP, FIRST, [None, 1, 2, 3]),
        (UP, LAST, [1, 2, 3, None]),
        (DOWN, FIRST, [None, 3, 2, 1]),
        (DOWN, LAST, [3, 2, 1, None]),
    ],
)
def test_direction_and_place_of_nulls_are_independent(
    by: SortDirection, nulls: NullOrder, expected: list[int | None]
) -> None:
    assert in_order([2, None, 3, 1], pa.int64(), LongType(), by, nulls) == expected


@pytest.mark.parametrize(("kind", "iceberg"), [(pa.float32(), FloatType()), (pa.float64(), DoubleType())])
def test_nan_is_the_greatest_and_the_negative_zero_below_the_other(kind: Any, iceberg: Any) -> None:
    values = [math.nan, 0.0, None, -0.0, math.inf, -1.5, -math.inf, 1e-40]
    texts = ["None", "-inf", "-1.5", "-0.0", "0.0", "1e-40", "inf", "nan"]
    ascending = in_order(values, kind, iceberg, UP, FIRST)
    assert [None if x is None else float(f"{x:.1g}") for x in ascending][:4] == [None, -math.inf, -2, 0]
    assert [str(x) for x in ascending][3:5] == texts[3:5]
    assert str(ascending[-1]) == "nan"
    assert [str(x) for x in in_order(values, kind, iceberg, DOWN, LAST)] == [
        str(x) for x in [*reversed(ascending[1:]), None]
    ]


def test_truth_values_can_be_sorted_and_of_uuids_only_what_is_made_of_them() -> None:
    assert in_order([True, None, False], pa.bool_(), BooleanType(), UP, LAST) == [False, True, None]
    places = column_places(Schema(NestedField(1, "u", UUIDType())))
    assert not is_sortable(order_of((1, UP, FIRST)), places)
    assert is_sortable(SortOrder(SortField(1, parse_transform("bucket[4]"), UP, FIRST)), places)


def test_several_fields_transforms_and_fields_of_structs_decide_together() -> None:
    order = SortOrder(
        SortField(1, parse_transform("truncate[10]"), DOWN, LAST),
        SortField(3, parse_transform("identity"), UP, LAST),
    )
    rows = [(11, 2), (3, 1), (15, 1), (None, 0), (4, None)]
    table = pa.table({"a": [a for a, _ in rows], "s": [{"x": x} for _, x in rows]})
    found = sorted_rows(table, order, PLACES).to_pylist()
    assert [(row["a"], row["s"]["x"]) for row in found] == [(15, 1), (11, 2), (3, 1), (4, None), (None, 0)]


def test_an_order_needs_all_its_columns_and_transforms_that_are_known() -> None:
    assert is_sortable(order_of((3, UP, FIRST)), PLACES)
    assert not is_sortable(order_of((1, UP, FIRST), (9, UP, FIRST)), PLACES)
    assert not is_sortable(SortOrder(SortField(1, UnknownTransform("zorder"), UP, FIRST)), PLACES)
    assert not is_sortable(SortOrder(), PLACES)
