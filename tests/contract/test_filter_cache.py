"""The contract of filter caches, checked on the fake and on a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
import redis

from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from service.adapters.filters.cache_server import VALUES
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.errors.query_errors import FilterCollectionTimedOut, QueryCanceled, QueryFailed
from service.errors.unavailable import FilterCacheDown
from service.model.filters.dynamic_filter import Build, DynamicFilter
from service.model.filters.key_sample import KeySample
from service.model.filters.key_set import (
    DynamicFilteringData,
    EarlierKeys,
    FilterForm,
    FilterSource,
    ObtainedKeys,
)
from service.model.operations.health import PartHealth, PartState
from service.ports.filters.filter_cache import FilterCache
from tests.fakes.clock import FakeClock
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.filters import DATES, DAYS, Collecting, date_filter, keys_of

PATIENCE_S = 20.0
BOUNDS = FilterCacheBounds()
WITH_NULL = replace(keys_of(("NULL",), ("b",)), has_null=True)
TWENTY_RANGES = DynamicFilteringData(
    (), is_filtering=True, exceeds_threshold=True, ranges=tuple((low, low + 5) for low in range(0, 200, 10))
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["fake", "valkey"])
def cache(request: pytest.FixtureRequest, clock: FakeClock) -> Iterator[FilterCache]:
    if request.param == "fake":
        yield FakeFilterCache(clock, BOUNDS.time_to_live)
        return
    real = RedisFilterCache(request.getfixturevalue("valkey").url, clock, BOUNDS)
    real.forget(None)
    yield real
    real.close()


@pytest.fixture(params=["fake", "refused", "silent"])
def cache_that_is_down(request: pytest.FixtureRequest, clock: FakeClock) -> Iterator[FilterCache]:
    if request.param == "fake":
        fake = FakeFilterCache()
        fake.is_down = True
        yield fake
        return
    is_silent = request.param == "silent"
    address = request.getfixturevalue("silent_address") if is_silent else "127.0.0.1:9"
    real = RedisFilterCache(f"redis://:topsecret@{address}/0", clock, BOUNDS)
    yield real
    real.close()


def test_a_cache_that_answers_is_up(cache: FilterCache) -> None:
    assert cache.health() == PartHealth("filterCache", PartState.UP)


def test_a_cache_that_is_down_says_so_within_a_second(cache_that_is_down: FilterCache) -> None:
    before = time.monotonic()
    health = cache_that_is_down.health()
    assert time.monotonic() - before < 1
    assert health == PartHealth("filterCache", PartState.DOWN, "The filter cache does not answer.")


def test_a_wrong_password_is_named_and_not_shown(valkey: EmbeddedValkey, clock: FakeClock) -> None:
    address = valkey.url.split("@")[1]
    cache = RedisFilterCache(f"redis://:topsecret@{address}", clock, BOUNDS)
    health = cache.health()
    note = cache.obtain(date_filter(), Collecting(), 1).note
    cache.close()
    assert health.state is PartState.DOWN
    for reported in (health.detail, note):
        assert "password" in reported
        assert "topsecret" not in reported


# ---- keys that are there, and keys that are not ------------------------------------------------


def test_the_first_collects_and_the_second_finds(cache: FilterCache) -> None:
    wanted, collect = date_filter(), Collecting()
    first = cache.obtain(wanted, collect, 1)
    second = cache.obtain(wanted, collect, 1)
    assert (first.data, first.source, first.note) == (DAYS, FilterSource.COLLECTED, "")
    assert second == ObtainedKeys(DAYS, FilterSource.CACHED, first.byte_count)
    assert first.byte_count > 0
    assert collect.count == 1


def test_who_asks_for_what_is_there_collects_nothing(cache: FilterCache) -> None:
    wanted = date_filter()
    assert cache.cached(wanted) == ObtainedKeys.none()
    stored = cache.obtain(wanted, Collecting(), 1)
    assert cache.cached(wanted) == ObtainedKeys(DAYS, FilterSource.CACHED, stored.byte_count)
    cache.forget(wanted.fingerprint)
    assert cache.cached(wanted) == ObtainedKeys.none()


def test_what_was_collected_here_is_here(cache: FilterCache) -> None:
    wanted = date_filter()
    assert cache.in_memory(wanted.fingerprint) is None
    obtained = cache.obtain(wanted, Collecting(), 1)
    in_memory = cache.in_memory(wanted.fingerprint)
    assert in_memory is not None
    assert (in_memory.data, in_memory.source) == (obtained.data, FilterSource.CACHED)
    cache.forget(wanted.fingerprint)
    assert cache.in_memory(wanted.fingerprint) is None


def test_keys_past_their_time_are_not_there(cache: FilterCache, clock: FakeClock) -> None:
    wanted = date_filter()
    cache.obtain(wanted, Collecting(), 1)
    clock.advance(BOUNDS.time_to_live + timedelta(seconds=1))
    assert cache.cached(wanted) == ObtainedKeys.none()


def test_of_a_cache_that_is_down_nothing_is_there(cache_that_is_down: FilterCache) -> None:
    assert cache_that_is_down.cached(date_filter()) == ObtainedKeys.none("The filter cache does not answer.")


def test_who_collects_without_the_server_hears_why_before(cache_that_is_down: FilterCache) -> None:
    collect = Collecting(failure=QueryFailed("division by zero"))
    with pytest.raises(QueryFailed):
        cache_that_is_down.obtain(date_filter(), collect, 1)
    assert collect.note == "The filter cache does not answer."


def test_other_keys_have_another_address(cache: FilterCache) -> None:
    collect, other = Collecting(), Collecting(keys_of((1,)))
    cache.obtain(date_filter(), collect, 1)
    assert cache.obtain(date_filter(), other, 1).data == keys_of((1,))


@pytest.mark.parametrize(
    "data",
    [
        DynamicFilteringData((), is_filtering=True),
        DynamicFilteringData.not_filtering(),
        DynamicFilteringData.not_filtering(exceeds_threshold=True),
    ],
)
def test_no_keys_are_an_answer_too_and_stay_what_they_mean(
    cache: FilterCache, data: DynamicFilteringData
) -> None:
    wanted, collect = date_filter(), Collecting(data)
    assert [cache.obtain(wanted, collect, 1).data for _ in range(2)] == [data, data]
    assert collect.count == 1


def test_keys_are_collected_again_after_their_time(cache: FilterCache, clock: FakeClock) -> None:
    wanted, collect = date_filter(), Collecting()
    cache.obtain(wanted, collect, 1)
    clock.advance(BOUNDS.time_to_live + timedelta(seconds=1))
    cache.obtain(wanted, collect, 1)
    assert collect.count == 2


def test_a_failure_is_passed_on_and_not_cached(cache: FilterCache) -> None:
    wanted = date_filter()
    with pytest.raises(QueryFailed, match="division"):
        cache.obtain(wanted, Collecting(failure=QueryFailed("division by zero")), 1)
    assert cache.obtain(wanted, Collecting(), 1).source is FilterSource.COLLECTED


# ---- several at once ---------------------------------------------------------------------------


def test_fifty_that_ask_at_once_collect_once(cache: FilterCache) -> None:
    wanted, collect = date_filter(), Collecting()
    with ThreadPoolExecutor(50) as threads:
        found = list(threads.map(lambda _: cache.obtain(wanted, collect, PATIENCE_S), range(50)))
    assert {keys.data for keys in found} == {DAYS}
    assert sorted(keys.source for keys in found) == [FilterSource.CACHED] * 49 + [FilterSource.COLLECTED]
    assert collect.count == 1


class Waiting:
    """One caller that collects until it may end, and one that waits for it."""

    def __init__(self, cache: FilterCache, collect: Collecting, wanted: DynamicFilter) -> None:
        collect.may_end.clear()
        self.second_collect = Collecting(keys_of((7,)))
        asks = Event()
        self._threads = ThreadPoolExecutor(2)
        self.first = self._threads.submit(cache.obtain, wanted, collect, PATIENCE_S)
        assert collect.has_begun.wait(PATIENCE_S)
        self.second: Future[ObtainedKeys] = self._threads.submit(self._ask, asks, cache, wanted)
        assert asks.wait(PATIENCE_S)
        collect.may_end.set()
        self._threads.shutdown()

    def _ask(self, asks: Event, cache: FilterCache, wanted: DynamicFilter) -> ObtainedKeys:
        asks.set()
        return cache.obtain(wanted, self.second_collect, PATIENCE_S)


def test_who_waits_for_another_does_not_fail_by_the_end_of_its_query(cache: FilterCache) -> None:
    waiting = Waiting(cache, Collecting(failure=QueryCanceled()), date_filter())
    assert isinstance(waiting.first.exception(), QueryCanceled)
    assert waiting.second.result().data == keys_of((7,))


def test_who_waits_for_another_gives_up_in_time(cache: FilterCache) -> None:
    wanted, collect = date_filter(), Collecting()
    collect.may_end.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(cache.obtain, wanted, collect, PATIENCE_S)
        assert collect.has_begun.wait(PATIENCE_S)
        with pytest.raises(FilterCollectionTimedOut):
            cache.obtain(wanted, collect, 0.05)
        collect.may_end.set()
        assert first.result(PATIENCE_S).data == DAYS
    assert collect.count == 1


def test_who_has_no_time_to_wait_collects_what_no_other_process_collects(
    valkey: EmbeddedValkey, clock: FakeClock
) -> None:
    caches = [RedisFilterCache(valkey.url, clock, BOUNDS) for _ in range(2)]
    caches[0].forget(None)
    wanted, collect, second = date_filter(), Collecting(), Collecting()
    collect.may_end.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(caches[0].obtain, wanted, collect, 0)
        assert collect.has_begun.wait(PATIENCE_S)
        with pytest.raises(FilterCollectionTimedOut):
            caches[1].obtain(wanted, second, 0)
        collect.may_end.set()
        assert first.result(PATIENCE_S).source is FilterSource.COLLECTED
    assert caches[1].obtain(wanted, second, 0).source is FilterSource.CACHED
    assert second.count == 0
    for each in caches:
        each.close()


# ---- looking and forgetting --------------------------------------------------------------------


def test_entries_say_what_they_are(cache: FilterCache, clock: FakeClock) -> None:
    wanted = date_filter()
    byte_count = cache.obtain(wanted, Collecting(), 1).byte_count
    [entry] = cache.entries(10)
    assert entry.fingerprint == wanted.fingerprint
    assert (entry.tables, entry.columns, entry.predicate) == ((DATES,), ("d_date_sk",), "d_year = 2000")
    assert (entry.snapshot_ids, entry.exceeds_threshold) == ((2,), False)
    assert (entry.value_count, entry.byte_count) == (len(DAYS.values), byte_count)
    assert (entry.created_at, entry.expires_at) == (clock.now(), clock.now() + BOUNDS.time_to_live)


def test_entries_show_a_few_of_their_values(cache: FilterCache) -> None:
    cache.obtain(date_filter(type_names=("string",)), Collecting(WITH_NULL), 1)
    [entry] = cache.entries(10)
    assert (entry.form, entry.value_count, entry.has_null) == (FilterForm.IN, 3, True)
    assert entry.sample == KeySample(("NULL",), ("b",), ((None,), ("NULL",), ("b",)))


def test_entries_show_a_few_of_their_ranges(cache: FilterCache) -> None:
    cache.obtain(date_filter(), Collecting(TWENTY_RANGES), 1)
    [entry] = cache.entries(10)
    assert (entry.form, entry.value_count, entry.range_count) == (FilterForm.RANGES, 0, 20)
    assert (entry.sample.lowest, entry.sample.highest, entry.sample.keys) == (("0",), ("195",), ())
    assert entry.sample.ranges == tuple((f"{low}", f"{low + 5}") for low in range(0, 100, 10))


def test_the_newest_entries_come_first_and_no_more_than_were_asked_for(
    cache: FilterCache, clock: FakeClock
) -> None:
    for index in range(5):
        cache.obtain(date_filter(f"f{index}"), Collecting(), 1)
        clock.advance(timedelta(seconds=1))
    assert [entry.fingerprint for entry in cache.entries(10)] == ["f4", "f3", "f2", "f1", "f0"]
    assert [entry.fingerprint for entry in cache.entries(2)] == ["f4", "f3"]
    cache.forget("f4")
    assert [entry.fingerprint for entry in cache.entries(2)] == ["f3", "f2"]
    assert cache.entries(0) == []


def test_one_entry_is_forgotten_and_the_others_stay(cache: FilterCache) -> None:
    gone, remaining = date_filter(), date_filter()
    for dynamic_filter in (gone, remaining):
        cache.obtain(dynamic_filter, Collecting(), 1)
    assert cache.forget(gone.fingerprint) == 1
    assert cache.forget(gone.fingerprint) == 0
    assert [entry.fingerprint for entry in cache.entries(10)] == [remaining.fingerprint]
    assert cache.obtain(gone, Collecting(), 1).source is FilterSource.COLLECTED
    assert cache.obtain(remaining, Collecting(), 1).source is FilterSource.CACHED


def test_all_entries_are_forgotten(cache: FilterCache) -> None:
    wanted = [date_filter() for _ in range(3)]
    for dynamic_filter in wanted:
        cache.obtain(dynamic_filter, Collecting(), 1)
    assert (cache.forget(None), cache.forget(None)) == (3, 0)
    assert cache.entries(10) == []
    assert {cache.obtain(dynamic_filter, Collecting(), 1).source for dynamic_filter in wanted} == {
        FilterSource.COLLECTED
    }


# ---- series ------------------------------------------------------------------------------------


def at_snapshot(*snapshot_ids: int | None, series: str = "s") -> DynamicFilter:
    build = Build((DATES,) * len(snapshot_ids), ("d_date_sk",), "", snapshot_ids)
    return replace(date_filter(f"{series}-{snapshot_ids}"), build=build, series=series)


def test_the_latest_keys_of_a_series_are_found_at_another_snapshot(cache: FilterCache) -> None:
    assert cache.earlier(at_snapshot(1)) is None
    for at in (1, 2):
        cache.obtain(at_snapshot(at), Collecting(), 1)
        assert cache.earlier(at_snapshot(3)) == EarlierKeys(f"s-({at},)", DAYS, {DATES: at})
        assert cache.earlier(at_snapshot(at)) is None
    assert cache.earlier(at_snapshot(3, series="other")) is None
    assert cache.earlier(at_snapshot(3, series="")) is None


def test_another_process_finds_them_too(valkey: EmbeddedValkey, clock: FakeClock) -> None:
    caches = [RedisFilterCache(valkey.url, clock, BOUNDS) for _ in range(2)]
    caches[0].forget(None)
    caches[0].obtain(at_snapshot(1), Collecting(), 1)
    assert caches[1].earlier(at_snapshot(2)) == EarlierKeys("s-(1,)", DAYS, {DATES: 1})
    caches[0].supersede("s-(1,)")
    assert caches[1].earlier(at_snapshot(2)) is not None, "queries from before the commit still use them"
    with redis.Redis.from_url(valkey.url) as client:
        assert 0 < client.pttl(f"{VALUES}s-(1,)") <= 600_000
    for each in caches:
        each.close()


def test_keys_of_two_snapshots_of_a_table_are_no_earlier_ones(cache: FilterCache) -> None:
    cache.obtain(at_snapshot(1, 2), Collecting(), 1)
    assert cache.earlier(at_snapshot(3, 3)) is None


def test_forgotten_keys_are_no_earlier_ones(cache: FilterCache) -> None:
    cache.obtain(at_snapshot(1), Collecting(), 1)
    cache.forget("s-(1,)")
    assert cache.earlier(at_snapshot(2)) is None


def test_expired_keys_are_no_earlier_ones(cache: FilterCache, clock: FakeClock) -> None:
    cache.obtain(at_snapshot(1), Collecting(), 1)
    clock.advance(BOUNDS.time_to_live)
    assert cache.earlier(at_snapshot(2)) is None


def test_without_the_server_there_are_no_earlier_keys(cache_that_is_down: FilterCache) -> None:
    assert cache_that_is_down.earlier(at_snapshot(2)) is None
    cache_that_is_down.supersede("s-(1,)")


# ---- without a server --------------------------------------------------------------------------


def test_without_the_server_keys_are_collected_and_a_note_says_why(cache_that_is_down: FilterCache) -> None:
    found = cache_that_is_down.obtain(date_filter(), Collecting(), 1)
    assert (found.data, found.source) == (DAYS, FilterSource.COLLECTED)
    assert found.note == "The filter cache does not answer."
    assert found.byte_count > 0


def test_without_the_server_fifty_that_ask_at_once_still_collect_once(
    cache_that_is_down: FilterCache,
) -> None:
    wanted, collect = date_filter(), Collecting()
    with ThreadPoolExecutor(50) as threads:
        found = list(threads.map(lambda _: cache_that_is_down.obtain(wanted, collect, PATIENCE_S), range(50)))
    assert {keys.data for keys in found} == {DAYS}
    assert collect.count == 1


def test_without_the_server_looking_and_forgetting_say_so(cache_that_is_down: FilterCache) -> None:
    with pytest.raises(FilterCacheDown):
        cache_that_is_down.entries(10)
    with pytest.raises(FilterCacheDown):
        cache_that_is_down.forget(None)
