"""The contract of `ResultIndex`: results by key, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from service.adapters.filters.cache_connection import CacheConnection
from service.adapters.reuse.entry_codec import decode, encode
from service.adapters.reuse.local_index import LocalResultIndex
from service.adapters.reuse.shared_index import ENTRIES, NEWEST, RedisResultIndex, SharedIndexBounds
from service.model.query.lineage import ColumnLineage, ColumnSources, Influence, Source
from service.model.query.results import Chunk, Column, Manifest
from service.model.query.reuse import ReusableResult
from service.ports.stores.reusable_results import ResultIndex
from tests.fakes.clock import FakeClock
from tests.fakes.query_records import scan
from tests.fakes.shared_reuse import SharedReuse

Make = Callable[[int, int], ResultIndex]
BOUNDS = SharedIndexBounds()
# Long, so that a busy machine does not look like a server that is down.
ANSWER_WITHIN_S = 10.0


@pytest.fixture(params=["local", "fake", "valkey", "valkey that is down"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Builds an index of this process, within its bounds; it may share all entries with others."""
    if request.param == "local":
        yield LocalResultIndex
        return
    if request.param == "fake":
        # Shared entries have bounds of their own, so nothing of theirs may be found here.
        yield lambda *bounds: SharedReuse(is_down=True).index(LocalResultIndex(*bounds))
        return
    is_down = request.param != "valkey"
    url = "redis://127.0.0.1:9/0" if is_down else request.getfixturevalue("valkey").url
    connection = CacheConnection(url, FakeClock(), ANSWER_WITHIN_S)
    nothing = replace(BOUNDS, entry_bytes=1)
    yield lambda *bounds: RedisResultIndex(connection, str(uuid4()), LocalResultIndex(*bounds), nothing)
    connection.close()


@dataclass
class Replicas:
    """The indexes of two replicas, which may hold `max_entries` together."""

    here: ResultIndex
    there: ResultIndex


Share = Callable[[int], Replicas]


@pytest.fixture(params=["fake", "valkey"])
def share(request: pytest.FixtureRequest) -> Iterator[Share]:
    if request.param == "fake":

        def fakes(max_entries: int) -> Replicas:
            shared = SharedReuse(max_entries=max_entries)
            return Replicas(shared.index(), shared.index())

        yield fakes
        return
    url = request.getfixturevalue("valkey").url
    connections = [CacheConnection(url, FakeClock(), ANSWER_WITHIN_S) for _ in range(2)]

    def real(max_entries: int) -> Replicas:
        store, bounds = str(uuid4()), replace(BOUNDS, max_entries=max_entries)
        here, there = (
            RedisResultIndex(connection, store, LocalResultIndex(100, 1 << 20), bounds)
            for connection in connections
        )
        return Replicas(here, there)

    yield real
    for connection in connections:
        connection.close()


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
    index.drop("a", uuid4())
    found = index.find("a")
    assert found is not None
    index.drop("a", found.query_id)
    index.drop("a", found.query_id)
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


# ---- what replicas share ----------------------------------------------------------------------------

AT = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE = Source("lake.shop.sales", "paid", Influence.AGGREGATION, is_masked=True)
FULL = ReusableResult(
    uuid4(),
    AT,
    Manifest((Column("n", "DECIMAL(7,2)", is_nullable=True),), 5, 80, (Chunk(0, 0, 5),), is_truncated=False),
    (scan("lake.shop.sales", 10, 4), replace(scan("lake.shop.item", 1, 0), snapshot_id=None, is_native=None)),
    ("row filter of lake.shop.sales",),
    ColumnLineage((ColumnSources("n", (SOURCE,)),), (SOURCE,)),
    (("_relation", "lake.shop.item"),),
)
HINT = replace(FULL, manifest=replace(FULL.manifest, chunks=()))


def test_the_other_replica_finds_all_but_the_chunks(share: Share) -> None:
    both = share(10)
    both.here.put("a", FULL)
    assert (both.there.find("a"), both.there.find("b")) == (HINT, None)
    plain = result()
    both.there.put("b", plain)
    assert both.here.find("b") == plain


def test_a_later_result_of_any_replica_counts(share: Share) -> None:
    both, later = share(10), replace(HINT, query_id=uuid4())
    both.here.put("a", FULL)
    both.there.put("a", later)
    assert both.here.find("a") == both.there.find("a") == later
    # Whoever could not read the earlier one takes nothing away.
    both.here.drop("a", FULL.query_id)
    assert both.there.find("a") == later
    both.there.drop("a", later.query_id)
    assert both.here.find("a") is both.there.find("a") is None


def test_a_cleared_index_forgets_those_of_all_replicas(share: Share) -> None:
    both = share(1_000)
    for number in range(120):
        both.here.put(f"here {number}", FULL)
    both.there.put("there", FULL)
    assert both.here.clear() > 0
    assert both.here.find("here 119") is both.here.find("here 0") is both.here.find("there") is None
    # The other one still finds those in its own memory.
    assert both.there.clear() == 1
    assert both.there.find("there") is None


def test_the_oldest_of_all_replicas_makes_room(share: Share) -> None:
    both = share(3)
    for number in range(5):
        index = (both.here, both.there)[number % 2]
        index.put(str(number), replace(FULL, taken_at=AT + timedelta(seconds=number)))
    assert [both.there.find(str(number)) is not None for number in (0, 2, 3, 4)] == [False, True, True, True]
    assert both.here.find("1") is None


def test_what_lies_there_instead_is_no_result(valkey: EmbeddedValkey) -> None:
    connection, store = CacheConnection(valkey.url, FakeClock(), ANSWER_WITHIN_S), str(uuid4())
    index = RedisResultIndex(connection, store, LocalResultIndex(10, 1_000), BOUNDS)
    client = connection.client
    values = [b"", b"[]", b"{", encode("b", FULL), encode("a", FULL).replace(b'"version":1', b'"version":2')]
    for value in (*values, encode("a", FULL)[:-1], b"x" * (BOUNDS.entry_bytes + 1)):
        client.set(f"{ENTRIES}{store}:a", value)
        assert index.find("a") is None
    client.delete(f"{ENTRIES}{store}:a")
    client.lpush(f"{ENTRIES}{store}:a", "of another type")
    client.set(f"{NEWEST}{store}", "of another type")
    assert index.find("a") is None
    index.put("a", FULL)
    index.put("c", FULL)
    assert (index.find("a"), index.find("c")) == (HINT, HINT)
    assert client.zcard(f"{NEWEST}{store}") == 1
    lives_ms = client.pttl(f"{ENTRIES}{store}:a")
    assert isinstance(lives_ms, int)
    assert 0 < lives_ms <= BOUNDS.time_to_live // timedelta(milliseconds=1)
    client.set(f"{NEWEST}{store}", "of another type")
    assert index.clear() == 2
    assert not client.exists(f"{NEWEST}{store}")
    connection.close()


def test_an_entry_that_is_too_large_hides_no_other(valkey: EmbeddedValkey) -> None:
    connection, store = CacheConnection(valkey.url, FakeClock(), ANSWER_WITHIN_S), str(uuid4())
    small = replace(BOUNDS, entry_bytes=len(encode("a", HINT)) - 1)
    here, there = (
        RedisResultIndex(connection, store, LocalResultIndex(10, 1_000), bounds) for bounds in (small, BOUNDS)
    )
    there.put("a", replace(FULL, query_id=uuid4()))
    here.put("a", FULL)
    assert here.find("a") == FULL
    connection.close()


def test_a_value_is_read_as_it_was_written() -> None:
    assert decode("a", encode("a", FULL)) == HINT
    assert decode("b", encode("a", FULL)) is None
