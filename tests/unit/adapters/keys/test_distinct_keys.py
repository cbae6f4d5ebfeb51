from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.keys.distinct_keys import KEY_BYTES, DistinctKeys


def _keys(*columns: Sequence[int | None]) -> pa.Table:
    names = [f"k{index}" for index in range(len(columns))]
    return pa.table([pa.array(column, pa.int64()) for column in columns], names)


@given(st.lists(st.lists(st.none() | st.integers(-5, 5))))
def test_each_value_is_there_once_and_in_order(pieces: list[list[int | None]]) -> None:
    keys = DistinctKeys(max_bytes=10**6)
    for piece in pieces:
        assert keys.add(_keys(piece))
    distinct = {value for piece in pieces for value in piece if value is not None}
    assert keys.sorted_keys() == tuple((value,) for value in sorted(distinct))
    assert keys.has_null is any(None in piece for piece in pieces)


@given(st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(0, 3))))
def test_keys_of_two_columns_are_there_once_and_none_has_a_null(rows: list[tuple[int | None, ...]]) -> None:
    keys = DistinctKeys(max_bytes=10**6)
    for a, b in rows:
        assert keys.add(_keys([a], [b]))
    assert keys.sorted_keys() == tuple(sorted({row for row in rows if None not in row}))


def test_as_many_as_fit_are_collected_and_one_more_is_too_many() -> None:
    keys = DistinctKeys(max_bytes=3 * KEY_BYTES)
    keys.add(_keys([1, 2, 3, 3]))
    assert keys.sorted_keys() == ((1,), (2,), (3,))
    keys.add(_keys([4]))
    assert keys.sorted_keys() is None


def test_too_many_are_noticed_on_the_way() -> None:
    keys = DistinctKeys(max_bytes=100_000 * KEY_BYTES)
    assert keys.add(_keys(range(70_000)))
    assert keys.add(_keys(range(70_000)))
    assert not keys.add(_keys(range(70_000, 140_000)))
