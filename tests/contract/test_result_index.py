"""The contract of `ResultIndex`: results by key, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from service.adapters.reuse.local_index import LocalResultIndex
from service.model.query.results import Manifest
from service.model.query.reuse import ReusableResult
from service.ports.stores.reusable_results import ResultIndex

Make = Callable[[int, int], ResultIndex]


@pytest.fixture(params=["local"])
def make() -> Make:
    return LocalResultIndex


def result(byte_count: int = 10) -> ReusableResult:
    manifest = Manifest((), 1, byte_count, (), is_truncated=False)
    return ReusableResult(uuid4(), datetime(2026, 1, 1, tzinfo=UTC), manifest)


def test_a_result_is_found_under_its_key_and_no_other(make: Make) -> None:
    index, kept = make(10, 1_000), result()
    index.put("a", kept)
    assert (index.find("a"), index.find("b")) == (kept, None)


def test_a_later_result_takes_the_place_of_an_earlier_one(make: Make) -> None:
    index, later = make(10, 1_000), result(20)
    index.put("a", result(10))
    index.put("a", later)
    assert (index.find("a"), index.use.entries, index.use.byte_count) == (later, 1, 20)


def test_a_dropped_result_is_gone(make: Make) -> None:
    index = make(10, 1_000)
    index.put("a", result())
    index.drop("a")
    index.drop("a")
    assert (index.find("a"), index.use.entries, index.use.byte_count) == (None, 0, 0)


@pytest.mark.parametrize("bounds", [(2, 1_000), (10, 25)], ids=["entries", "bytes"])
def test_the_least_recently_used_makes_room(make: Make, bounds: tuple[int, int]) -> None:
    index = make(*bounds)
    for key in "ab":
        index.put(key, result(10))
    assert index.find("a") is not None
    index.put("c", result(10))
    assert index.find("b") is None
    assert None not in (index.find("a"), index.find("c"))


def test_a_result_larger_than_the_bound_is_not_kept(make: Make) -> None:
    index = make(10, 100)
    index.put("a", result(10))
    index.put("b", result(101))
    assert index.find("b") is None
    assert index.find("a") is not None
