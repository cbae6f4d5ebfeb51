"""The contract of results that replicas share, in a folder or in an object store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from uuid import uuid4

import pyarrow as pa
import pytest

from service.adapters.results.leftovers import GRACE
from service.adapters.results.manifest_file import NAME
from service.adapters.results.result_store import LEFTOVERS_EVERY
from service.errors.query_errors import ResultExpired, ResultTooLarge
from service.model.query.results import Chunk
from tests.contract.shared_places import (
    COLUMNS,
    TICK,
    TTL,
    SharedBucket,
    SharedFolder,
    SharedPlace,
    kept,
    rows,
    whole,
    written,
)
from tests.fakes.clock import FakeClock
from tests.integration.object_store.server import ObjectStore


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> SharedPlace:
    if request.param == "folder":
        return SharedFolder(tmp_path / "shared", clock)
    server: ObjectStore = request.getfixturevalue("object_server")
    return SharedBucket(server, server.make_bucket(f"b-{uuid4().hex}"), clock)


@pytest.fixture
def clock() -> FakeClock:
    """The store's own clock says when objects were written."""
    return FakeClock(datetime.now(UTC))


def test_rows_that_others_wrote_are_chunks_and_one_stream(place: SharedPlace) -> None:
    store, query_id = place.replica(), uuid4()
    given = written(place, store, query_id)
    place.write(store, query_id, {"late-attempt.part": b"rows of a task that ran twice"})
    manifest = store.keep(query_id, given, COLUMNS, is_truncated=True)
    assert manifest.chunks == (Chunk(0, 0, 10), Chunk(1, 10, 10), Chunk(2, 20, 10), Chunk(3, 30, 30))
    assert (manifest.row_count, manifest.is_truncated) == (60, True)
    expected = pa.Table.from_batches([rows(0, 60)])
    assert pa.concat_tables(store.chunk(query_id, chunk.index) for chunk in manifest.chunks) == expected
    assert pa.ipc.open_stream(whole(store, query_id)).read_all() == expected
    assert manifest.byte_count == sum(
        rows(0, 60).slice(chunk.row_offset, chunk.row_count).nbytes for chunk in manifest.chunks
    )
    names = place.names(query_id)
    assert (len(names), {"a.part", "b.part", NAME} < names, "late-attempt.part" in names) == (4, True, False)


def test_every_range_is_that_part_of_the_stream(place: SharedPlace) -> None:
    store, random = place.replica(), Random(1)
    query_id = kept(place, store)
    stream, data = store.open(query_id), whole(store, query_id)
    assert len(data) == stream.byte_count
    for _ in range(100):
        start, stop = sorted(random.choices(range(len(data) + 1), k=2))
        assert b"".join(stream.blocks(start, stop)) == data[start:stop]


def test_any_replica_reads_any_result_and_shares_it(place: SharedPlace) -> None:
    here, there = place.replica(chunk_rows=7), place.replica()
    put_here, written_here, shared = uuid4(), kept(place, here), uuid4()
    manifest = here.put(put_here, pa.Table.from_batches([rows(0, 20)]), COLUMNS, is_truncated=False)
    assert there.manifest(put_here) == here.manifest(put_here) == manifest
    for query_id in (put_here, written_here):
        assert there.manifest(query_id) == here.manifest(query_id)
        assert there.chunk(query_id, 1) == here.chunk(query_id, 1)
        assert whole(there, query_id) == whole(here, query_id)
    assert there.share(written_here, shared)
    here.drop(written_here)
    for store in (here, there):
        assert store.manifest(written_here) is None
        with pytest.raises(ResultExpired):
            store.chunk(written_here, 0)
        assert store.chunk(shared, 3).num_rows == 30
    assert (there.use.entries, here.use.entries) == (1, 1)


def test_a_result_ends_for_all_replicas_at_its_time(place: SharedPlace, clock: FakeClock) -> None:
    here, there = place.replica(), place.replica()
    query_id = kept(place, here)
    clock.advance(TTL - TICK)
    assert there.chunk(query_id, 0) == here.chunk(query_id, 0)
    clock.advance(TICK)
    for store in (here, there):
        assert store.manifest(query_id) is None
        with pytest.raises(ResultExpired):
            store.chunk(query_id, 0)
        with pytest.raises(ResultExpired):
            store.open(query_id)


def test_a_stream_ends_with_its_result(place: SharedPlace, clock: FakeClock) -> None:
    here, there = place.replica(), place.replica()
    for reader in (here, there):
        for is_dropped in (True, False):
            query_id = kept(place, here)
            stream = reader.open(query_id)
            blocks = stream.blocks(0, stream.byte_count)
            # The schema, and what is of the first file.
            next(blocks)
            next(blocks)
            if is_dropped:
                here.drop(query_id)
            else:
                clock.advance(TTL)
            with pytest.raises(ResultExpired):
                list(blocks)


def test_two_readers_at_their_own_pace_get_the_same(place: SharedPlace) -> None:
    store = place.replica()
    query_id = kept(place, store)
    stream = store.open(query_id)
    slow, data = stream.blocks(0, stream.byte_count), whole(store, query_id)
    read = [next(slow)]
    assert whole(store, query_id) == data
    assert b"".join([*read, *slow]) == data


def test_results_outlive_their_replica_and_are_deleted_by_another(
    place: SharedPlace, clock: FakeClock
) -> None:
    first = place.replica()
    query_id = kept(place, first)
    first.close()
    second = place.replica()
    assert second.chunk(query_id, 0).num_rows == 10
    clock.advance(TTL)
    second.sweep()
    assert place.entries() == {str(query_id)}
    clock.advance(GRACE + LEFTOVERS_EVERY)
    second.sweep()
    assert place.entries() == set()


def test_a_result_that_is_too_large_leaves_nothing(place: SharedPlace) -> None:
    store, query_id = place.replica(total_bytes=100), uuid4()
    given = written(place, store, query_id)
    with pytest.raises(ResultTooLarge):
        store.keep(query_id, given, COLUMNS, is_truncated=False)
    assert place.entries() == set()


def test_the_oldest_results_make_room_for_written_ones(place: SharedPlace) -> None:
    one = place.replica()
    kept(place, one)
    store = place.replica(total_bytes=one.use.byte_count * 5 // 2)
    first, second, third = kept(place, store), kept(place, store), kept(place, store)
    assert store.manifest(first) is None
    assert store.chunk(second, 0) == store.chunk(third, 0)
    assert store.use.entries == 2


def test_a_shared_result_takes_the_place_of_what_its_query_had(
    place: SharedPlace,
) -> None:
    store, query_id, other = place.replica(), uuid4(), uuid4()
    store.put(query_id, pa.Table.from_batches([rows(0, 3)]), COLUMNS, is_truncated=False)
    store.put(other, pa.Table.from_batches([rows(5, 5)]), COLUMNS, is_truncated=False)
    assert store.share(query_id, other)
    assert store.chunk(other, 0) == store.chunk(query_id, 0)
    assert store.use.entries == 2


# ---- rows that are kept for reuse -------------------------------------------------------------------


def test_rows_are_shared_only_for_the_key_that_they_were_kept_for(
    place: SharedPlace,
) -> None:
    here, there = place.replica(), place.replica()
    query_id, plain = kept(place, here), kept(place, here)
    assert here.keep_for(query_id, "a key")
    for store in (here, there):
        assert not store.share(query_id, uuid4(), "another key")
        assert not store.share(plain, uuid4(), "a key")
        other = uuid4()
        assert store.share(query_id, other, "a key")
        assert whole(there, other) == whole(here, query_id)
        # The key is that of the query which ran.
        assert not there.share(other, uuid4(), "a key")
    assert not here.keep_for(uuid4(), "a key")
    here.drop(query_id)
    assert not there.share(query_id, uuid4(), "a key")


def test_rights_are_read_at_any_replica_until_the_result_is_gone(
    place: SharedPlace,
) -> None:
    here, there = place.replica(), place.replica()
    query_id, other = kept(place, here), kept(place, here)
    assert here.note_rights(query_id, "some é rights")
    assert [store.rights(query_id) for store in (here, there)] == ["some é rights"] * 2
    # Each query has its own rights, also if it has the rows of another one.
    assert there.share(query_id, other)
    assert there.rights(other) is None
    assert not here.note_rights(uuid4(), "of no result")
    here.drop(query_id)
    assert there.rights(query_id) is None
