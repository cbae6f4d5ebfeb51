"""Rows of every type can be compared, also of types for which Python has no objects."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from service.query.execution.same_rows import same_rows


def twice_named(*values: int) -> pa.Array:
    return pa.StructArray.from_arrays([pa.array(values), pa.array([1] * len(values))], names=["x", "x"])


def invalid_text(last: bytes) -> pa.Array:
    return pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff" + last]).buffers())


FAR = 10**15
MAPS = pa.map_(pa.string(), pa.int64())
PAIRS: list[tuple[Any, Any]] = [
    (pa.array([1, None]), pa.array([1, 2])),
    (pa.array([1.0]), pa.array([1.1])),
    (pa.array([FAR], pa.timestamp("s")), pa.array([FAR + 1], pa.timestamp("s"))),
    (pa.array([FAR], pa.timestamp("s", "UTC")), pa.array([None], pa.timestamp("s", "UTC"))),
    (
        pa.array([2**31 - 1], pa.int32()).view(pa.date32()),
        pa.array([2**31 - 2], pa.int32()).view(pa.date32()),
    ),
    (pa.array([FAR], pa.duration("us")), pa.array([FAR - 1], pa.duration("us"))),
    (twice_named(1), twice_named(2)),
    (invalid_text(b"a"), invalid_text(b"b")),
    (pa.array([[1, None]]), pa.array([[1, 2]])),
    (pa.array([[("a", 1)], []], MAPS), pa.array([[("a", 1)], None], MAPS)),
    (pa.array([{}, None], pa.struct([])), pa.array([{}, {}], pa.struct([]))),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_rows_are_the_same_as_themselves_and_as_no_others(one: pa.Array, other: pa.Array) -> None:
    left, right = pa.table([one], names=["v"]), pa.table([other], names=["v"])
    assert same_rows(left, left)
    assert same_rows(pa.concat_tables([left, left]).slice(len(one)), left)
    assert not same_rows(left, right)


def test_rows_without_columns_are_the_same_when_they_are_as_many() -> None:
    two, three = (pa.table({"a": range(count)}).select([]) for count in (2, 3))
    assert same_rows(two, two)
    assert not same_rows(two, three)


def test_the_order_of_the_rows_says_nothing() -> None:
    assert same_rows(pa.table({"a": [1, 2, 2]}), pa.table({"a": [2, 1, 2]}))
    assert not same_rows(pa.table({"a": [1, 2, 2]}), pa.table({"a": [2, 1, 1]}))
