from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.types import BinaryType, DateType, DecimalType, LongType, StringType, UUIDType

from service.adapters.data_files.bound_values import comparable, lower_bound, upper_bound

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(TEXTS, st.integers(1, 4))
def test_bounds_of_texts_are_short_and_hold(text: str, length: int) -> None:
    lower = lower_bound(StringType(), text, length).decode()
    assert lower <= text
    assert len(lower) <= length
    upper = upper_bound(StringType(), text, length)
    if upper is not None:
        assert upper.decode() >= text
        assert len(upper.decode()) <= length


@given(st.binary(max_size=6), st.integers(1, 4))
def test_bounds_of_bytes_are_short_and_hold(value: bytes, length: int) -> None:
    assert lower_bound(BinaryType(), value, length) <= value
    upper = upper_bound(BinaryType(), value, length)
    assert upper is None or (upper >= value and len(upper) <= length)


def test_behind_the_last_character_before_the_surrogates_comes_the_first_after_them() -> None:
    assert upper_bound(StringType(), "a\ud7ffb", 2) == "a\ue000".encode()
    assert upper_bound(StringType(), "\U0010ffff" * 3, 2) is None
    assert upper_bound(BinaryType(), b"\xff\xff\x01", 2) is None


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_decimals_have_the_same_bounds_from_both_of_parquets_forms(unscaled: int) -> None:
    kind = DecimalType(38, 2)
    raw = unscaled.to_bytes(16, "big", signed=True)
    assert comparable(kind, raw) == comparable(kind, unscaled) == unscaled
    assert int.from_bytes(lower_bound(kind, unscaled, None), "big", signed=True) == unscaled


def test_days_beyond_what_python_counts_have_bounds() -> None:
    assert lower_bound(LongType(), -5, None) == (-5).to_bytes(8, "little", signed=True)
    assert lower_bound(DateType(), 3_000_000, None) == (3_000_000).to_bytes(4, "little")
    assert upper_bound(UUIDType(), bytes(16), None) == bytes(16)
