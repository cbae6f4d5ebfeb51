"""A dead letter's payload can be sent again, and is read as the same value."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ingest.decoding.values.row_payload import row_payload
from service.ingest.decoding.values.scalar_values import scalar_values
from service.model.calendar import FIRST_DAY, LAST_DAY, day_of, moment_of

FIRST_US, LAST_US = FIRST_DAY * 86_400 * 10**6, (LAST_DAY + 1) * 86_400 * 10**6 - 1
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Africa/Monrovia"])


def payload(array: pa.Array) -> object:
    record = json.loads(row_payload(pa.record_batch([array], names=["v"])))
    return record["v"]


def read(type_name: str, value: object) -> object:
    convert = scalar_values(type_name)
    assert convert is not None
    return convert(value)


@given(st.integers(FIRST_DAY, LAST_DAY))
def test_a_day_is_read_as_it_was(day: int) -> None:
    array = pa.array([day], pa.int32()).view(pa.date32())
    assert pa.array([read("date", payload(array))], pa.date32()).equals(array)


@given(st.integers(FIRST_US, LAST_US), ZONES)
def test_a_moment_is_read_as_it_was_whatever_its_zone(microseconds: int, zone: str) -> None:
    array = pa.array([microseconds], pa.int64()).view(pa.timestamp("us", zone))
    read_again = pa.array([read("timestamptz", payload(array))], pa.timestamp("us", "UTC"))
    assert read_again.view(pa.int64()).to_pylist() == [microseconds]


@given(st.integers(FIRST_US, LAST_US))
def test_a_moment_without_a_zone_is_read_as_it_was(microseconds: int) -> None:
    array = pa.array([microseconds], pa.int64()).view(pa.timestamp("us"))
    assert pa.array([read("timestamp", payload(array))], pa.timestamp("us")).equals(array)


@given(st.one_of(st.integers(-(2**31), FIRST_DAY - 1), st.integers(LAST_DAY + 1, 2**31 - 1)))
def test_a_day_of_another_year_is_reported_and_refused_for_what_it_is(day: int) -> None:
    text = payload(pa.array([day], pa.int32()).view(pa.date32()))
    assert day_of(str(text)) == day
    with pytest.raises(ValueError, match=r"outside of the years 1 to 9999|out of range"):
        read("date", text)


@given(st.one_of(st.integers(-(2**63), FIRST_US - 1), st.integers(LAST_US + 1, 2**63 - 1)), st.booleans())
def test_a_moment_of_another_year_is_reported_and_refused_for_what_it_is(ticks: int, has_zone: bool) -> None:
    array = pa.array([ticks], pa.int64()).view(pa.timestamp("us", "UTC" if has_zone else None))
    text = payload(array)
    assert moment_of(str(text)) == (ticks * 1_000, has_zone)
    with pytest.raises(ValueError, match=r"outside of the years 1 to 9999|out of range"):
        read("timestamptz" if has_zone else "timestamp", text)
