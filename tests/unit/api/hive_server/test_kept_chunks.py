"""Tests that the chunk that a client reads is kept for its next fetch, and given back."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.hive_server.rows.kept_chunks import KeptChunks
from api.hive_server.rows.result_rows import ResultRows, StoredChunks
from service.errors.query_errors import ResultExpired, ResultStoreDown

BIG = 1 << 30
CHUNK = pa.table({"n": pa.array(range(10), pa.int64())})
BYTES = CHUNK.get_total_buffer_size()


def counted(count: int) -> pa.Table:
    """Returns rows that share no memory with others."""
    return pa.table({"n": pa.array(range(count), pa.int64())})


class Stored:
    """A result in a store, which counts how often each chunk is read."""

    def __init__(self, counts: list[int], kept: KeptChunks) -> None:
        self.whole = counted(sum(counts))
        self._counts = counts
        self.reads: list[int] = []
        self.failure: Exception | None = None
        self.refusal: Exception | None = None
        self.place = kept.place()
        self.rows = ResultRows(self.whole.schema, counts, StoredChunks(self._load, self._check, self.place))

    def _load(self, index: int) -> pa.Table:
        if self.failure is not None:
            raise self.failure
        self.reads.append(index)
        return self.whole.slice(sum(self._counts[:index]), self._counts[index])

    def _check(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    def fetch_all(self, max_rows: int, max_bytes: int = BIG) -> list[int]:
        found: list[int] = []
        while (page := self.rows.page(max_rows, max_bytes)).rows.num_rows:
            assert page.offset == len(found)
            assert page.rows.num_rows <= max_rows
            assert page.rows.schema == self.whole.schema
            found += page.rows["n"].to_pylist()
        return found


def test_small_fetches_read_each_chunk_once() -> None:
    kept = KeptChunks(BIG)
    stored = Stored([10, 10, 5], kept)
    assert stored.fetch_all(3) == list(range(25))
    assert stored.reads == [0, 1, 2]
    assert kept.byte_count == 0


def test_without_room_each_fetch_reads_its_chunk() -> None:
    stored = Stored([10], KeptChunks(0))
    assert stored.fetch_all(5) == list(range(10))
    assert stored.reads == [0, 0]


@given(
    counts=st.lists(st.integers(0, 7), max_size=5),
    max_rows=st.integers(1, 9),
    max_bytes=st.integers(1, 60),
    room=st.sampled_from([0, 40, 100, BIG]),
)
def test_pages_are_the_same_with_any_room(
    counts: list[int], max_rows: int, max_bytes: int, room: int
) -> None:
    kept = KeptChunks(room)
    stored = Stored(counts, kept)
    for _ in range(2):
        assert stored.fetch_all(max_rows, max_bytes) == list(range(sum(counts)))
        stored.rows.rewind()
    assert kept.byte_count == 0


def test_the_chunk_that_was_not_read_for_the_longest_goes() -> None:
    kept = KeptChunks(2 * BYTES)
    first, second, third = kept.place(), kept.place(), kept.place()
    for place in (first, second):
        place.keep(0, counted(10))
    assert first.find(0) is not None
    third.keep(0, counted(10))
    assert [place.find(0) is not None for place in (first, second, third)] == [True, False, True]
    assert kept.byte_count == 2 * BYTES
    assert first.find(1) is None


def test_a_chunk_beyond_the_bound_drives_nothing_out() -> None:
    kept = KeptChunks(BYTES)
    small, large = kept.place(), kept.place()
    small.keep(0, CHUNK)
    large.keep(0, counted(11))
    assert (small.find(0), large.find(0)) == (CHUNK, None)


def test_the_next_chunk_of_a_result_takes_the_place_of_the_one_before() -> None:
    kept = KeptChunks(BIG)
    place = kept.place()
    for index in range(3):
        place.keep(index, counted(10))
    assert kept.byte_count == BYTES
    assert [place.find(index) is not None for index in range(3)] == [False, False, True]


def test_nothing_is_kept_for_a_statement_that_has_ended() -> None:
    kept = KeptChunks(BIG)
    stored = Stored([10], kept)
    stored.rows.page(3, BIG)
    assert kept.byte_count == stored.whole.get_total_buffer_size()
    stored.place.close()
    assert kept.byte_count == 0
    # A fetch may still be under way.
    stored.rows.page(3, BIG)
    assert kept.byte_count == 0


def test_kept_rows_are_refused_as_those_of_the_store() -> None:
    stored = Stored([10], KeptChunks(BIG))
    stored.rows.page(3, BIG)
    stored.refusal = ResultExpired()
    with pytest.raises(ResultExpired):
        stored.rows.page(3, BIG)


def test_a_fetch_that_fails_in_its_second_chunk_loses_no_row() -> None:
    stored = Stored([10, 10], KeptChunks(BIG))
    assert stored.rows.page(5, BIG).rows.num_rows == 5
    stored.failure = ResultStoreDown()
    with pytest.raises(ResultStoreDown):
        stored.rows.page(10, BIG)
    stored.failure = None
    page = stored.rows.page(10, BIG)
    assert (page.offset, page.rows["n"].to_pylist()) == (5, list(range(5, 15)))
