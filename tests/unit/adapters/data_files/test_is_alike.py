from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from service.adapters.data_files.layout.is_alike import is_alike

GROUPS = [
    [pa.bool_()],
    [pa.int8(), pa.int32(), pa.int64()],
    [pa.float32(), pa.float64()],
    [pa.decimal128(5, 2), pa.decimal128(30, 3)],
    [pa.date32()],
    [pa.time64("us")],
    [pa.timestamp("ms"), pa.timestamp("us")],
    [pa.timestamp("ms", "Asia/Tokyo"), pa.timestamp("us", "UTC")],
    [pa.string(), pa.large_string()],
    [pa.binary(), pa.large_binary(), pa.binary(16), pa.uuid()],
]
PAIRS = [
    (found, wanted, first == second)
    for (first, one), (second, other) in product(enumerate(GROUPS), repeat=2)
    for found, wanted in product(one, other)
]


@pytest.mark.parametrize(("found", "wanted", "expected"), PAIRS, ids=str)
def test_only_types_of_one_kind_stand_for_each_other(
    found: pa.DataType, wanted: pa.DataType, expected: bool
) -> None:
    assert is_alike(found, wanted) == expected
    structs = pa.struct({"a": found}), pa.struct({"a": wanted})
    maps = pa.map_(pa.string(), found), pa.map_(pa.large_string(), wanted)
    lists = pa.list_(found), pa.large_list(wanted)
    assert [is_alike(*pair) for pair in (structs, maps, lists)] == [expected] * 3


def test_a_struct_needs_its_fields_in_their_order_and_nothing_fits_everywhere() -> None:
    wanted = pa.struct({"a": pa.int64(), "b": pa.int64()})
    assert not is_alike(pa.struct({"b": pa.int64(), "a": pa.int64()}), wanted)
    assert not is_alike(pa.struct({"a": pa.int64()}), wanted)
    assert not is_alike(pa.int64(), wanted)
    assert not is_alike(pa.list_(pa.int64()), pa.map_(pa.int64(), pa.int64()))
    assert is_alike(pa.null(), wanted)
    assert is_alike(pa.list_(pa.null()), pa.large_list(wanted))
