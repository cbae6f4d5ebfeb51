from __future__ import annotations

from service.bounded_lru import BoundedLru
from service.model.operations.usage import CacheUse


def test_what_was_asked_for_last_stays() -> None:
    cache: BoundedLru[str, int] = BoundedLru(max_entries=2, max_bytes=100)
    cache.put("a", 1, 10)
    cache.put("b", 2, 10)
    assert cache.get("a") == 1
    cache.put("c", 3, 10)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_bytes_are_a_bound_as_well() -> None:
    cache: BoundedLru[str, int] = BoundedLru(max_entries=10, max_bytes=100)
    cache.put("a", 1, 60)
    cache.put("b", 2, 60)
    assert (cache.get("a"), cache.get("b")) == (None, 2)


def test_a_value_that_is_put_again_counts_once() -> None:
    cache: BoundedLru[str, int] = BoundedLru(max_entries=10, max_bytes=100)
    for value in range(5):
        cache.put("a", value, 60)
    cache.put("b", 2, 40)
    assert (cache.get("a"), cache.get("b")) == (4, 2)


def test_what_is_larger_than_everything_is_not_cached() -> None:
    cache: BoundedLru[str, int] = BoundedLru(max_entries=10, max_bytes=100)
    cache.put("a", 1, 101)
    assert cache.get("a") is None
    cache.put("b", 2, 100)
    assert cache.get("b") == 2


def test_it_tells_how_full_it_is_and_how_often_something_was_there() -> None:
    cache: BoundedLru[str, int] = BoundedLru(max_entries=10, max_bytes=100)
    cache.put("a", 1, 60)
    for key in "aab":
        cache.get(key)
    assert cache.use == CacheUse(entries=1, byte_count=60, max_bytes=100, hits=2, misses=1)


def test_it_is_emptied_and_goes_on_counting() -> None:
    cache: BoundedLru[str, int] = BoundedLru(max_entries=10, max_bytes=100)
    cache.put("a", 1, 60)
    assert cache.get("a") == 1
    assert (cache.clear(), cache.clear()) == (1, 0)
    assert cache.get("a") is None
    assert cache.use == CacheUse(0, 0, 100, 1, 1)
