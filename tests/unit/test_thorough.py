"""The part of the cases that `make test` runs has every value, with different partners."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.thorough import IS_THOROUGH, pairs_of, part_of, turns_of

sizes = some.integers(1, 20)


@pytest.mark.skipif(IS_THOROUGH, reason="all pairs")
@given(sizes, sizes)
def test_each_value_has_two_partners(first_count: int, second_count: int) -> None:
    pairs = pairs_of(range(first_count), range(second_count))
    assert len(pairs) <= 2 * max(first_count, second_count)
    for at, count, others in ((0, first_count, second_count), (1, second_count, first_count)):
        partners = {value: {pair[1 - at] for pair in pairs if pair[at] == value} for value in range(count)}
        assert all(len(found) >= min(2, others) for found in partners.values()), (pairs, partners)


@pytest.mark.skipif(IS_THOROUGH, reason="all pairs")
def test_values_take_turns() -> None:
    assert turns_of("abc", (1, 2)) == [("a", 1), ("b", 2), ("c", 1)]


@pytest.mark.skipif(IS_THOROUGH, reason="all cases")
def test_a_part_is_spread_evenly() -> None:
    assert list(part_of(range(7), 3)) == [0, 3, 6]
