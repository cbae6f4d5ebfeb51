"""The contract of kept rows, checked on the fake and on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
import redis

from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from service.adapters.filters.cache_server import KEPT_NOTES, KEPT_ROWS
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.filters.kept_notes import NOTE_BYTES
from service.model.filters.key_selection import Bound, ColumnSet, KeptNote, KeySelection
from tests.fakes.clock import FakeClock
from tests.fakes.filter_cache import FakeFilterCache

YEAR = KeySelection(
    {
        "year": ColumnSet(values=frozenset({2001})),
        "day": ColumnSet(Bound(date(2001, 1, 1)), Bound(date(2001, 12, 31), is_inclusive=False)),
        "name": ColumnSet(is_null=True),
        "price": ColumnSet(low=Bound(Decimal("-1.50"))),
        "é": ColumnSet(values=frozenset({"a", "ü"})),
    },
    frozenset({"upper(`t0`.`x`) = 'Ä'"}),
)
ROWS = pa.table(
    {
        "k": pa.array([1, 2, None], pa.int32()),
        "price": pa.array([None, Decimal("1.25"), Decimal("2.00")], pa.decimal128(7, 2)),
        "name": ["a", None, "é"],
        "day": pa.array([date(2001, 1, 1), None, date(1, 1, 1)]),
    }
)


def note_on(fingerprint: str, rows: pa.Table = ROWS, selection: KeySelection = YEAR) -> KeptNote:
    return KeptNote(fingerprint, 7, selection, tuple(rows.column_names), rows.num_rows)


@pytest.fixture(params=["fake", "valkey"])
def cache(request: pytest.FixtureRequest) -> Iterator[FakeFilterCache | RedisFilterCache]:
    if request.param == "fake":
        yield FakeFilterCache()
        return
    with_server = RedisFilterCache(
        request.getfixturevalue("valkey").url, FakeClock(), FilterCacheBounds(value_bytes=1_000_000)
    )
    with_server.forget(None)
    yield with_server
    with_server.close()


def test_rows_come_back_as_they_were_kept(cache: FakeFilterCache | RedisFilterCache) -> None:
    kept = cache.kept_rows
    assert list(kept.notes("f")) == []
    kept.keep("f", note_on("a"), ROWS, 8)
    [note] = kept.notes("f")
    assert note == note_on("a")
    rows = kept.rows("f", note)
    assert rows is not None
    assert rows.equals(ROWS)
    assert list(kept.notes("other")) == []


def test_the_newest_notes_stay_and_each_is_there_once(cache: FakeFilterCache | RedisFilterCache) -> None:
    for name in ("a", "b", "a", "c", "b"):
        cache.kept_rows.keep("f", note_on(name), ROWS, 2)
    assert [note.fingerprint for note in cache.kept_rows.notes("f")] == ["b", "c"]
    are_there = {name: cache.kept_rows.rows("f", note_on(name)) is not None for name in "abc"}
    assert are_there == {"a": False, "b": True, "c": True}


def test_rows_without_any_are_rows_too(cache: FakeFilterCache | RedisFilterCache) -> None:
    none = ROWS.slice(0, 0)
    cache.kept_rows.keep("f", note_on("a", none), none, 2)
    assert cache.kept_rows.rows("f", note_on("a", none)) == none


def test_forgotten_rows_are_gone_and_then_their_note(cache: FakeFilterCache | RedisFilterCache) -> None:
    for name in ("a", "b"):
        cache.kept_rows.keep("f", note_on(name), ROWS, 2)
    cache.forget("a")
    assert cache.kept_rows.rows("f", note_on("a")) is None
    assert list(cache.kept_rows.notes("f")) == [note_on("b")]
    cache.forget(None)
    assert list(cache.kept_rows.notes("f")) == []
    assert cache.kept_rows.rows("f", note_on("b")) is None


def test_rows_are_those_of_exactly_this_note(cache: FakeFilterCache | RedisFilterCache) -> None:
    cache.kept_rows.keep("f", note_on("a"), ROWS, 2)
    damaged = KeySelection({"year": ColumnSet(values=frozenset({2011}))}, YEAR.rest)
    assert cache.kept_rows.rows("f", note_on("a", selection=damaged)) is None
    assert cache.kept_rows.rows("f", note_on("a")) is not None


def test_rows_that_another_note_replaced_are_gone(cache: FakeFilterCache | RedisFilterCache) -> None:
    few = ROWS.select(["k"])
    cache.kept_rows.keep("f", note_on("a"), ROWS, 2)
    cache.kept_rows.keep("f", note_on("a", few), few, 2)
    assert cache.kept_rows.rows("f", note_on("a")) is None
    assert cache.kept_rows.rows("f", note_on("a", few)) == few
    assert list(cache.kept_rows.notes("f")) == [note_on("a", few)]


@pytest.mark.parametrize("address", ["fake", "refused", "silent"])
def test_without_the_server_nothing_is_kept_and_nothing_raises(
    request: pytest.FixtureRequest, address: str
) -> None:
    cache: FakeFilterCache | RedisFilterCache
    if address == "fake":
        cache = FakeFilterCache()
        cache.kept_rows.is_down = True
    else:
        at = request.getfixturevalue("silent_address") if address == "silent" else "127.0.0.1:9"
        cache = RedisFilterCache(f"redis://{at}/0", FakeClock(), FilterCacheBounds(answer_within_s=0.05))
    cache.kept_rows.keep("f", note_on("a"), ROWS, 2)
    assert list(cache.kept_rows.notes("f")) == []
    assert cache.kept_rows.rows("f", note_on("a")) is None
    cache.close()


class TestOnTheServer:
    @pytest.fixture
    def real(self, valkey: EmbeddedValkey) -> Iterator[RedisFilterCache]:
        cache = RedisFilterCache(valkey.url, FakeClock(), FilterCacheBounds(value_bytes=10_000))
        cache.forget(None)
        yield cache
        cache.close()

    def test_another_process_finds_rows_and_they_expire(
        self, real: RedisFilterCache, valkey: EmbeddedValkey
    ) -> None:
        real.kept_rows.keep("f", note_on("a"), ROWS, 2)
        other = RedisFilterCache(valkey.url, FakeClock(), FilterCacheBounds())
        assert other.kept_rows.rows("f", note_on("a")) == ROWS
        other.close()
        with redis.Redis.from_url(valkey.url) as client:
            assert {client.pttl(f"{KEPT_NOTES}f") > 0, client.pttl(f"{KEPT_ROWS}a") > 0} == {True}

    @pytest.mark.parametrize("place", [KEPT_NOTES + "f", KEPT_ROWS + "a"])
    def test_a_key_of_another_type_is_replaced(
        self, real: RedisFilterCache, valkey: EmbeddedValkey, place: str
    ) -> None:
        with redis.Redis.from_url(valkey.url) as client:
            client.delete(place)
            client.hset(place, "x", "y")
            assert list(real.kept_rows.notes("f")) == []
            assert real.kept_rows.rows("f", note_on("a")) is None
            for _ in range(2):
                real.kept_rows.keep("f", note_on("a"), ROWS, 2)
            assert real.kept_rows.rows("f", note_on("a")) == ROWS
            assert list(real.kept_rows.notes("f")) == [note_on("a")]

    @pytest.mark.parametrize("stored", [b"", b"7", b"SLFR" + bytes(40), b"x" * 9_999, b"[" * 8_000], ids=len)
    def test_anything_else_is_no_note_and_no_rows(
        self, real: RedisFilterCache, valkey: EmbeddedValkey, stored: bytes
    ) -> None:
        real.kept_rows.keep("f", note_on("a"), ROWS, 2)
        with redis.Redis.from_url(valkey.url) as client:
            client.lpush(f"{KEPT_NOTES}f", stored)
            client.set(f"{KEPT_ROWS}a", stored)
        assert list(real.kept_rows.notes("f")) == [note_on("a")]
        assert real.kept_rows.rows("f", note_on("a")) is None

    def test_rows_of_another_set_are_not_taken(self, real: RedisFilterCache, valkey: EmbeddedValkey) -> None:
        for name in ("a", "b"):
            real.kept_rows.keep("f", note_on(name), ROWS, 2)
        with redis.Redis.from_url(valkey.url) as client:
            client.rename(f"{KEPT_ROWS}b", f"{KEPT_ROWS}a")
        assert real.kept_rows.rows("f", note_on("a")) is None

    def test_long_notes_and_large_rows_are_not_kept(self, real: RedisFilterCache) -> None:
        many = KeySelection({"k": ColumnSet(values=frozenset(range(NOTE_BYTES)))})
        real.kept_rows.keep("f", note_on("a", selection=many), ROWS, 2)
        large = pa.table({"k": pa.array(number * 7919 % 65_537 for number in range(50_000))})
        real.kept_rows.keep("f", note_on("b", large), large, 2)
        assert list(real.kept_rows.notes("f")) == []
