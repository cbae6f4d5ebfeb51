"""Replicas that share keys on one real server, through everything that can happen to it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import redis

from service.adapters.filters.cache_connection import REST_MS
from service.adapters.filters.cache_server import LEASES, VALUES
from service.adapters.filters.codec import encode
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.filters.lease import LEASE_S
from service.adapters.filters.newest import INDEXED, LISTED_AT_ONCE, NEWEST
from service.errors.query_errors import FilterCollectionTimedOut, QueryFailed
from service.errors.unavailable import FilterCacheDown
from service.model.filters.key_set import DynamicFilteringData, FilterSource, ObtainedKeys
from service.model.operations.health import PartState
from tests.fakes.clock import FakeClock
from tests.fakes.filters import DAYS, Collecting, date_filter, keys_of
from tests.integration.asking import problem
from tests.integration.guarded import Guarded
from tests.integration.servers import Valkey, garbage, valkey
from tests.polling import until

pytestmark = pytest.mark.integration

PATIENCE_S = 20.0
SECOND = timedelta(milliseconds=REST_MS)
NO_ANSWER = "The filter cache does not answer."
NewReplica = Callable[..., RedisFilterCache]


@pytest.fixture
def server() -> Iterator[Valkey]:
    with valkey() as running:
        yield running


@pytest.fixture
def client(server: Valkey) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as client:
        yield client


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def replica(server: Valkey, clock: FakeClock) -> Iterator[NewReplica]:
    """Makes gateways' caches, each with the in-process layer of its own."""
    made: list[RedisFilterCache] = []

    def new(**bounds: int) -> RedisFilterCache:
        made.append(RedisFilterCache(server.url, clock, FilterCacheBounds(**bounds)))  # type: ignore[arg-type]
        return made[-1]

    yield new
    for cache in made:
        cache.close()


# ---- several replicas --------------------------------------------------------------------------


def test_fifty_queries_on_two_replicas_collect_once(replica: NewReplica) -> None:
    replicas, wanted, collect = [replica(), replica()], date_filter(), Collecting()
    with ThreadPoolExecutor(50) as threads:
        found = list(
            threads.map(lambda index: replicas[index % 2].obtain(wanted, collect, PATIENCE_S), range(50))
        )
    assert {(keys.data, keys.note) for keys in found} == {(DAYS, "")}
    assert sorted(keys.source for keys in found) == [FilterSource.CACHED] * 49 + [FilterSource.COLLECTED]
    assert collect.count == 1


def test_a_replica_waits_for_the_one_that_collects(replica: NewReplica, client: redis.Redis) -> None:
    wanted, collect, other = date_filter(), Collecting(), Collecting(keys_of((1,)))
    collect.may_end.clear()
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(replica().obtain, wanted, collect, PATIENCE_S)
        assert collect.has_begun.wait(PATIENCE_S)
        second = threads.submit(replica().obtain, wanted, other, PATIENCE_S)
        collect.may_end.set()
        assert first.result(PATIENCE_S).source is FilterSource.COLLECTED
        assert second.result(PATIENCE_S).data == DAYS
    assert (collect.count, other.count) == (1, 0)
    assert client.keys(f"{LEASES}*") == []


def test_a_replica_gives_up_waiting_in_time(replica: NewReplica, client: redis.Redis) -> None:
    wanted = date_filter()
    client.set(LEASES + wanted.fingerprint, "another", px=60_000)
    with pytest.raises(FilterCollectionTimedOut):
        replica().obtain(wanted, Collecting(), 0.2)


def test_one_that_died_while_it_collected_is_followed_by_another(
    replica: NewReplica, client: redis.Redis
) -> None:
    wanted, collect = date_filter(), Collecting()
    client.set(LEASES + wanted.fingerprint, "the dead one", px=300)
    assert replica().obtain(wanted, collect, PATIENCE_S).source is FilterSource.COLLECTED
    assert client.exists(LEASES + wanted.fingerprint) == 0


def test_a_lease_is_renewed_while_keys_are_collected(replica: NewReplica, client: redis.Redis) -> None:
    wanted, collect = date_filter(), Collecting()
    collect.may_end.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(replica().obtain, wanted, collect, PATIENCE_S)
        assert collect.has_begun.wait(PATIENCE_S)
        lease = LEASES + wanted.fingerprint
        until(lambda: client.pttl(lease) < LEASE_S * 900)
        until(lambda: client.pttl(lease) > LEASE_S * 950)
        collect.may_end.set()
        first.result(PATIENCE_S)
    assert client.exists(lease) == 0


def test_a_failure_leaves_nothing_behind(replica: NewReplica, client: redis.Redis) -> None:
    wanted = date_filter()
    with pytest.raises(QueryFailed):
        replica().obtain(wanted, Collecting(failure=QueryFailed()), 1)
    assert client.keys(f"*{wanted.fingerprint}*") == []
    assert replica().obtain(wanted, Collecting(), 1).source is FilterSource.COLLECTED


def test_what_one_replica_forgets_the_others_forget_too(replica: NewReplica, clock: FakeClock) -> None:
    wanted, here, there = date_filter(), replica(), replica()
    for cache in (here, there):
        cache.obtain(wanted, Collecting(), 1)
    assert here.forget(wanted.fingerprint) == 1
    assert here.obtain(wanted, Collecting(keys_of((1,))), 1).data == keys_of((1,))
    clock.advance(SECOND)
    assert there.obtain(wanted, Collecting(), 1).data == keys_of((1,))


def test_what_is_forgotten_while_it_is_collected_is_not_cached_in_the_process(replica: NewReplica) -> None:
    wanted, collect, cache = date_filter(), Collecting(), replica()
    collect.may_end.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(cache.obtain, wanted, collect, PATIENCE_S)
        assert collect.has_begun.wait(PATIENCE_S)
        cache.forget(None)
        collect.may_end.set()
        first.result(PATIENCE_S)
    replica().forget(wanted.fingerprint)
    assert cache.obtain(wanted, Collecting(keys_of((1,))), 1).data == keys_of((1,))


# ---- the layer in the process ------------------------------------------------------------------


def test_keys_that_were_used_here_need_no_server(
    replica: NewReplica, server: Valkey, clock: FakeClock
) -> None:
    wanted, cache = date_filter(), replica()
    cache.obtain(wanted, Collecting(), 1)
    server.stop()
    clock.advance(SECOND)
    assert cache.obtain(wanted, Collecting(), 1).source is FilterSource.CACHED


def test_the_layer_is_bounded_by_bytes(replica: NewReplica, client: redis.Redis) -> None:
    small, large = date_filter(), date_filter()
    cache = replica(local_bytes=20_000)
    cache.obtain(small, Collecting(keys_of((1,))), 1)
    cache.obtain(large, Collecting(), 1)
    client.flushall()
    assert cache.obtain(large, Collecting(), 1).source is FilterSource.COLLECTED
    assert cache.obtain(small, Collecting(), 1).source is FilterSource.CACHED


def test_without_bytes_there_is_no_layer(replica: NewReplica, client: redis.Redis) -> None:
    wanted, cache = date_filter(), replica(local_bytes=0)
    cache.obtain(wanted, Collecting(), 1)
    client.flushall()
    assert cache.obtain(wanted, Collecting(), 1).source is FilterSource.COLLECTED


# ---- the server killed, paused, full, flushed --------------------------------------------------


def during_a_collection(cache: RedisFilterCache, happens: Callable[[], object]) -> ObtainedKeys:
    """Returns the keys obtained when `happens` is called while they are collected."""
    collect = Collecting()
    collect.may_end.clear()
    with ThreadPoolExecutor(1) as threads:
        found = threads.submit(cache.obtain, date_filter(), collect, PATIENCE_S)
        assert collect.has_begun.wait(PATIENCE_S)
        happens()
        collect.may_end.set()
        return found.result(PATIENCE_S)


def test_a_server_killed_during_a_collection_is_a_note(replica: NewReplica, server: Valkey) -> None:
    found = during_a_collection(replica(), server.stop)
    assert (found.data, found.source, found.note) == (DAYS, FilterSource.COLLECTED, NO_ANSWER)


def test_a_server_paused_during_a_collection_is_a_note(replica: NewReplica, server: Valkey) -> None:
    found = during_a_collection(replica(), server.pause)
    server.resume()
    assert (found.data, found.source, found.note) == (DAYS, FilterSource.COLLECTED, NO_ANSWER)


def test_a_server_flushed_during_a_collection_takes_the_keys(
    replica: NewReplica, client: redis.Redis
) -> None:
    found = during_a_collection(replica(), client.flushall)
    assert (found.data, found.note) == (DAYS, "")
    assert len(client.keys(f"{VALUES}*")) == 1


def test_a_server_that_fills_up_during_a_collection_is_a_note(
    replica: NewReplica, client: redis.Redis
) -> None:
    found = during_a_collection(replica(), lambda: fill(client))
    assert (found.data, found.source, found.note) == (
        DAYS,
        FilterSource.COLLECTED,
        "The filter cache is full.",
    )


def fill(client: redis.Redis) -> None:
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", "1")


def test_a_full_server_still_gives_what_it_has(replica: NewReplica, client: redis.Redis) -> None:
    known, cache = date_filter(), replica()
    replica().obtain(known, Collecting(), 1)
    fill(client)
    assert cache.obtain(known, Collecting(), 1).source is FilterSource.CACHED
    found = cache.obtain(date_filter(), Collecting(), 1)
    assert (found.source, found.note) == (FilterSource.COLLECTED, "The filter cache is full.")


def test_a_server_that_evicts_is_no_hindrance(replica: NewReplica, client: redis.Redis) -> None:
    client.config_set("maxmemory-policy", "allkeys-lru")
    client.config_set("maxmemory", str(int(client.info("memory")["used_memory"]) + 1_000_000))
    cache = replica(local_bytes=0)
    # The keys are random, so that they do not compress.
    notes = [cache.obtain(date_filter(), Collecting(random_keys()), 1).note for _ in range(100)]
    assert set(notes) == {""}
    assert 0 < len(client.keys(f"{VALUES}*")) < 100


def random_keys() -> DynamicFilteringData:
    return keys_of(*sorted((secrets.randbits(62),) for _ in range(4000)))


def test_a_paused_server_holds_up_one_query_and_not_each(
    replica: NewReplica, server: Valkey, clock: FakeClock
) -> None:
    cache = replica()
    server.pause()
    began = time.monotonic()
    notes = [cache.obtain(date_filter(), Collecting(), 1).note for _ in range(20)]
    took_s = time.monotonic() - began
    server.resume()
    assert set(notes) == {NO_ANSWER}
    assert took_s < 1
    clock.advance(SECOND)
    wanted = date_filter()
    assert cache.obtain(wanted, Collecting(), 1).note == ""
    assert replica().obtain(wanted, Collecting(), 1).source is FilterSource.CACHED


def test_a_server_that_was_started_again_is_used_again(
    replica: NewReplica, server: Valkey, clock: FakeClock
) -> None:
    cache = replica()
    cache.obtain(date_filter(), Collecting(), 1)
    server.stop()
    assert cache.obtain(date_filter(), Collecting(), 1).note == NO_ANSWER
    with pytest.raises(FilterCacheDown):
        cache.entries(10)
    server.start()
    clock.advance(SECOND)
    assert cache.obtain(date_filter(), Collecting(), 1).note == ""
    assert len(cache.entries(10)) == 1


NONSENSE = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b":no number\r\n",
    b"$no length\r\n",
    b"$100000000000\r\nabc",
    b"*1\r\n" * 5_000,
    b"%1\r\n*0\r\n+b\r\n",
    b"-MOVED 1 127.0.0.1:1\r\n",
]


@pytest.mark.parametrize("answer", NONSENSE)
def test_something_that_speaks_another_language_is_no_cache(
    replica: NewReplica, server: Valkey, clock: FakeClock, answer: bytes
) -> None:
    cache = replica()
    server.stop()
    with garbage(server.port, answer):
        for ask in (lambda: cache.entries(10), lambda: cache.forget(None), lambda: cache.forget("f")):
            clock.advance(SECOND)
            with pytest.raises(FilterCacheDown):
                ask()
        clock.advance(SECOND)
        found = cache.obtain(date_filter(), Collecting(), 1)
        assert (found.data, found.source) == (DAYS, FilterSource.COLLECTED)
        assert found.note.startswith("The filter cache ")
        assert cache.health().state is PartState.DOWN
    server.start()
    clock.advance(SECOND)
    assert cache.obtain(date_filter(), Collecting(), 1).note == ""


# ---- looking -----------------------------------------------------------------------------------


def test_exactly_the_newest_are_listed_though_some_were_evicted(
    replica: NewReplica, client: redis.Redis, clock: FakeClock
) -> None:
    caches = [replica(), replica()]
    for index in range(3 * LISTED_AT_ONCE):
        caches[index % 2].obtain(date_filter(f"f{index}"), Collecting(keys_of((1,))), 1)
        clock.advance(timedelta(seconds=1))
    last = 3 * LISTED_AT_ONCE - 1
    client.unlink(*(f"{VALUES}f{index}" for index in range(20, last) if index % 10))
    newest = [f"f{last}", *(f"f{index}" for index in range(last, 0, -1) if index % 10 == 0)]
    assert [entry.fingerprint for entry in caches[0].entries(20)] == newest[:20]


def test_the_list_looks_at_a_bounded_number_of_names_and_ends_with_what_it_names(
    replica: NewReplica, client: redis.Redis
) -> None:
    client.zadd(NEWEST, {f"gone {index}": index for index in range(INDEXED + 5)})
    cache = replica()
    cache.obtain(date_filter("f"), Collecting(), 1)
    assert client.zcard(NEWEST) == INDEXED
    assert 86_000 < client.ttl(NEWEST) <= 86_400
    before = calls(client)
    assert [entry.fingerprint for entry in cache.entries(10)] == ["f"]
    assert calls(client) - before <= INDEXED + INDEXED // LISTED_AT_ONCE + 10


def calls(client: redis.Redis) -> int:
    return int(client.info("stats")["total_commands_processed"])


def test_something_else_in_place_of_the_names_is_taken_away(replica: NewReplica, client: redis.Redis) -> None:
    cache = replica()
    client.set(NEWEST, "rubbish")
    assert cache.entries(10) == []
    assert cache.obtain(date_filter("f1"), Collecting(), 1).note == ""
    cache.obtain(date_filter("f2"), Collecting(), 1)
    assert [entry.fingerprint for entry in cache.entries(10)] == ["f2"]


# ---- what else may lie there -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "list", "another version", "cut"])
def test_rubbish_under_the_key_is_noted_and_overwritten(
    replica: NewReplica, client: redis.Redis, clock: FakeClock, kind: str
) -> None:
    wanted = date_filter()
    key = VALUES + wanted.fingerprint
    value, _ = encode(wanted, DAYS, clock.now(), timedelta(hours=1))
    if kind == "list":
        client.rpush(key, "a", "b")
    else:
        client.set(key, {"text": b"hello", "cut": value[:-1]}.get(kind, value.replace(b"1", b"2")))
    assert replica().entries(10) == [] or kind == "cut"
    assert replica().cached(wanted) == ObtainedKeys.none("What lay in the filter cache could not be read.")
    found = replica().obtain(wanted, Collecting(), 1)
    assert (found.data, found.source) == (DAYS, FilterSource.COLLECTED)
    assert found.note == "What lay in the filter cache could not be read."
    assert replica().obtain(wanted, Collecting(), 1).source is FilterSource.CACHED


def test_keys_that_are_too_large_are_not_stored_and_a_note_says_so(
    replica: NewReplica, client: redis.Redis
) -> None:
    cache = replica(value_bytes=1000, local_bytes=0)
    found = cache.obtain(date_filter(), Collecting(random_keys()), 1)
    assert found.note == "The keys are larger than the filter cache takes."
    assert client.keys(f"{VALUES}*") == []


def test_keys_of_a_type_that_is_not_stored_are_collected_and_a_note_says_so(replica: NewReplica) -> None:
    found = replica().obtain(date_filter(type_names=("double",)), Collecting(), 1)
    assert (found.data, found.note) == (DAYS, "Keys of the type double are not cached.")


def test_what_is_stored_expires_by_itself(replica: NewReplica, client: redis.Redis) -> None:
    wanted = date_filter()
    replica().obtain(wanted, Collecting(), 1)
    assert 86_000 < client.ttl(VALUES + wanted.fingerprint) <= 86_400


# ---- over HTTP ---------------------------------------------------------------------------------


def test_filters_are_listed_and_deleted_over_http(guarded: Guarded) -> None:
    another = RedisFilterCache(guarded.cache.url, FakeClock(), FilterCacheBounds())
    another.forget(None)
    wanted = date_filter()
    another.obtain(wanted, Collecting(), 1)
    another.close()
    [listed] = guarded.alice.get("/filters").json()["filters"]
    assert (listed["fingerprint"], listed["values"]) == (wanted.fingerprint, len(DAYS.values))
    assert guarded.alice.delete(f"/filters/{wanted.fingerprint}").json() == {"deleted": 1}
    assert guarded.alice.delete("/filters").json() == {"deleted": 0}


def test_without_the_server_filters_cannot_be_listed_or_deleted(guarded: Guarded) -> None:
    guarded.cache.stop()
    try:
        problem(guarded.alice.get("/filters"), 503, "FILTER_CACHE_DOWN")
        problem(guarded.alice.delete("/filters"), 503, "FILTER_CACHE_DOWN")
    finally:
        guarded.cache.start()
    until(lambda: guarded.alice.get("/filters").status_code == 200, within_s=5)
