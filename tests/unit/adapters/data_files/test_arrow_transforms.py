"""Transforms of arrays equal PyIceberg's transforms of single values, which follow the specification."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.transforms import Transform, parse_transform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from service.adapters.data_files.layout.arrow_transforms import transformed
from service.model.tables.transforms import is_made_of

INTS = st.integers(-(2**31), 2**31 - 1)
DAYS = st.integers((date(1, 1, 2) - date(1970, 1, 1)).days, (date(9999, 12, 30) - date(1970, 1, 1)).days)
MICROS = st.integers(-62_135_510_400_000_000, 253_402_214_400_000_000)
# A wrong transform shows within a millisecond of the start of an hour, day, month or year.
OFFSETS = st.sampled_from([0, 1, 2, 500, 999, 1_000, 1_001, 999_999, 1_000_000, 1_000_001])
MIDNIGHTS = DAYS | st.dates(date(1, 2, 1)).map(lambda day: (day.replace(day=1) - date(1970, 1, 1)).days)
HOURS_US = st.builds(lambda day, hour: (day * 24 + hour) * 3_600_000_000, MIDNIGHTS, st.integers(0, 23))
BOUNDARIES = st.builds(
    lambda start, offset, sign: start + sign * offset, HOURS_US, OFFSETS, st.sampled_from([-1, 1])
)
MOMENTS = (
    MICROS | BOUNDARIES | st.builds(lambda day, offset: day * 86_400_000_000 - offset, MIDNIGHTS, OFFSETS)
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
DECIMALS = st.integers(-(10**9) + 1, 10**9 - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-2))
LARGE_DECIMALS = st.integers(-(10**17), 10**17).map(Decimal)
VALUES: dict[PrimitiveType, st.SearchStrategy[Any]] = {
    IntegerType(): INTS,
    LongType(): st.integers(-(2**63), 2**63 - 1),
    DateType(): DAYS,
    TimeType(): st.integers(0, 86_399_999_999),
    TimestampType(): MOMENTS,
    TimestamptzType(): MOMENTS,
    DecimalType(9, 2): DECIMALS,
    DecimalType(18, 0): LARGE_DECIMALS,
    DecimalType(38, 4): st.integers(-(10**26), 10**26).map(lambda unscaled: Decimal(unscaled).scaleb(-4)),
    StringType(): TEXTS,
    BinaryType(): st.binary(max_size=8),
    FixedType(4): st.binary(min_size=4, max_size=4),
    UUIDType(): st.binary(min_size=16, max_size=16),
}
OTHERS = (BooleanType(), DoubleType(), FloatType())
TRANSFORMS = ["bucket[7]", "bucket[1000]", "truncate[3]", "truncate[10]", "year", "month", "day", "hour"]
CASES = [
    (parse_transform(text), kind)
    for text in TRANSFORMS
    for kind in VALUES
    if parse_transform(text).can_transform(kind)
]


def array_of(kind: PrimitiveType, values: list[Any]) -> pa.Array:
    target = schema_to_pyarrow(kind)
    if isinstance(kind, UUIDType):
        return pa.array(values, pa.binary(16)).cast(target)
    if isinstance(kind, DateType):
        return pa.array(values, pa.int32()).cast(target)
    if isinstance(kind, TimeType | TimestampType | TimestamptzType):
        return pa.array(values, pa.int64()).cast(target)
    return pa.array(values, target)


def stored(array: pa.Array) -> list[Any]:
    if pa.types.is_date32(array.type):
        array = array.view(pa.int32())
    return list(array.to_pylist())


@pytest.mark.parametrize(("transform", "kind"), CASES, ids=str)
def test_an_array_is_transformed_as_each_of_its_values(
    transform: Transform[Any, Any], kind: PrimitiveType
) -> None:
    one: Callable[[Any], Any] = transform.transform(kind)
    # A number cannot be truncated if the result is out of its type's range.
    least = -(2**63) + 10 if isinstance(kind, LongType) else -(2**31) + 10
    values = VALUES[kind].filter(lambda value: not isinstance(kind, IntegerType | LongType) or value > least)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.none() | values, max_size=20))
    def check(given_values: list[Any]) -> None:
        found = transformed(transform, kind, array_of(kind, given_values))
        assert stored(found) == [one(value) for value in given_values]

    check()


@pytest.mark.parametrize("kind", [*VALUES, *OTHERS], ids=str)
def test_identity_keeps_and_void_forgets_every_value(kind: PrimitiveType) -> None:
    array = pa.nulls(2, schema_to_pyarrow(kind))
    for name in ("identity", "void"):
        assert transformed(parse_transform(name), kind, array).null_count == 2
    days = array_of(DateType(), [5, None])
    assert transformed(parse_transform("identity"), DateType(), days) == days
    assert transformed(parse_transform("void"), DateType(), days).null_count == 2


def test_known_values_of_the_specification() -> None:
    """Source: the Iceberg table specification, "Appendix B: 32-bit Hash Requirements"."""
    many = parse_transform(f"bucket[{2**31 - 1}]")
    at = datetime(2017, 11, 16, 22, 31, 8)
    cases: list[tuple[PrimitiveType, pa.Array, int]] = [
        (IntegerType(), pa.array([34], pa.int32()), 2017239379),
        (LongType(), pa.array([34], pa.int64()), 2017239379),
        (DateType(), pa.array([date(2017, 11, 16)]), -653330422),
        (TimestampType(), pa.array([at], pa.timestamp("us")), -2047944441),
        (StringType(), pa.array(["iceberg"], pa.large_string()), 1210000089),
        (BinaryType(), pa.array([bytes([0, 1, 2, 3])], pa.large_binary()), -188683207),
        (DecimalType(9, 2), pa.array([Decimal("14.20")], pa.decimal128(9, 2)), -500754589),
    ]
    for kind, array, hashed in cases:
        assert transformed(many, kind, array).to_pylist() == [(hashed & (2**31 - 1)) % (2**31 - 1)]


def test_the_last_moment_of_a_day_before_1970_belongs_to_that_day() -> None:
    day_us = 86_400_000_000
    for days in (-7305, -1, 0, 1, 20_000):
        moments = [days * day_us + offset for offset in (-1_001, -1_000, -999, -2, -1, 0, 1, 999)]
        for kind in (TimestampType(), TimestamptzType()):
            found = transformed(parse_transform("day"), kind, array_of(kind, [*moments, None]))
            assert found.to_pylist() == [days - 1] * 5 + [days] * 3 + [None]


@pytest.mark.parametrize(
    "transform", [parse_transform(transform) for transform in ("identity", "void", *TRANSFORMS)], ids=str
)
def test_what_tables_may_be_made_of_is_what_can_be_computed(transform: Transform[Any, Any]) -> None:
    found = [kind for kind in (*VALUES, *OTHERS) if is_made_of(str(transform), str(kind))]
    able = [kind for kind in (*VALUES, *OTHERS) if transform.can_transform(kind)]
    # Iceberg's libraries do not agree on an order of UUIDs.
    assert found == [kind for kind in able if str(transform) != "identity" or kind != UUIDType()]
    for kind in found:
        assert transformed(transform, kind, pa.nulls(2, schema_to_pyarrow(kind))).null_count == 2
    assert not is_made_of(str(transform), "timestamp_ns")
