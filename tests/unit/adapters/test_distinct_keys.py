from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.distinct_keys import KEY_BYTES, DistinctKeys


def _array(values: Sequence[int | None]) -> pa.Array:
    return pa.array(values, pa.int64())


@given(st.lists(st.lists(st.none() | st.integers(-5, 5))))
def test_each_value_is_there_once_and_in_order(pieces: list[list[int | None]]) -> None:
    keys = DistinctKeys(max_bytes=10**6)
    for piece in pieces:
        assert keys.add(_array(piece))
    assert keys.sorted_values() == sorted({each for piece in pieces for each in piece if each is not None})


def test_as_many_as_fit_are_kept_and_one_more_is_too_many() -> None:
    keys = DistinctKeys(max_bytes=3 * KEY_BYTES)
    keys.add(_array([1, 2, 3, 3]))
    assert keys.sorted_values() == [1, 2, 3]
    keys.add(_array([4]))
    assert keys.sorted_values() is None


def test_too_many_are_noticed_on_the_way() -> None:
    keys = DistinctKeys(max_bytes=100_000 * KEY_BYTES)
    assert keys.add(_array(range(70_000)))
    assert keys.add(_array(range(70_000)))
    assert not keys.add(_array(range(70_000, 140_000)))
