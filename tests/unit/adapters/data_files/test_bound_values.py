from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.types import BinaryType, DateType, DecimalType, LongType, StringType, UUIDType

from service.adapters.data_files.metrics.bound_values import BoundForm

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(TEXTS, st.integers(1, 4))
def test_bounds_of_texts_are_short_and_hold(text: str, length: int) -> None:
    lower = BoundForm.of(StringType(), length).lower(text).decode()
    assert lower <= text
    assert len(lower) <= length
    upper = BoundForm.of(StringType(), length).upper(text)
    if upper is not None:
        assert upper.decode() >= text
        assert len(upper.decode()) <= length


@given(st.binary(max_size=6), st.integers(1, 4))
def test_bounds_of_bytes_are_short_and_hold(value: bytes, length: int) -> None:
    assert BoundForm.of(BinaryType(), length).lower(value) <= value
    upper = BoundForm.of(BinaryType(), length).upper(value)
    assert upper is None or (upper >= value and len(upper) <= length)


def test_behind_the_last_character_before_the_surrogates_comes_the_first_after_them() -> None:
    assert BoundForm.of(StringType(), 2).upper("a\ud7ffb") == "a\ue000".encode()
    assert BoundForm.of(StringType(), 2).upper("\U0010ffff" * 3) is None
    assert BoundForm.of(BinaryType(), 2).upper(b"\xff\xff\x01") is None


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_decimals_have_the_same_bounds_from_both_of_parquets_forms(unscaled: int) -> None:
    kind = DecimalType(38, 2)
    raw = unscaled.to_bytes(16, "big", signed=True)
    form = BoundForm.of(kind, None)
    assert form.comparable(raw) == form.comparable(unscaled) == unscaled
    assert int.from_bytes(form.lower(unscaled), "big", signed=True) == unscaled


def test_days_beyond_what_python_counts_have_bounds() -> None:
    assert BoundForm.of(LongType(), None).lower(-5) == (-5).to_bytes(8, "little", signed=True)
    assert BoundForm.of(DateType(), None).lower(3_000_000) == (3_000_000).to_bytes(4, "little")
    assert BoundForm.of(UUIDType(), None).upper(bytes(16)) == bytes(16)
