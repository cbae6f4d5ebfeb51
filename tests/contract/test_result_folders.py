"""Results in a folder that replicas share, and results whose rows another process has written there."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit
from uuid import UUID, uuid4

import pyarrow as pa
import pytest

from service.adapters.results.leftovers import GRACE
from service.adapters.results.manifest_file import NAME
from service.adapters.results.result_store import LEFTOVERS_EVERY, FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from service.adapters.results.stored_result import StoredResult
from service.errors.query_errors import QueryFailed, ResultExpired, ResultTooLarge
from service.model.query.results import Chunk, Column
from service.model.query.written_rows import Batch, Part, WrittenRows
from tests.fakes.clock import FakeClock

T = TypeVar("T")
TTL = timedelta(hours=1)
COLUMNS = (Column("n", "BIGINT", False), Column("t", "STRING", True))
SCHEMA = pa.schema([pa.field("n", pa.int64(), nullable=False), ("t", pa.string())])
TICK = timedelta(milliseconds=1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def replica(folder: Path, clock: FakeClock) -> Callable[..., FolderResultStore]:
    """Starts one of the replicas that share the folder."""

    def start(**bounds: int) -> FolderResultStore:
        within = ResultBounds(time_to_live=TTL, **bounds)  # type: ignore[arg-type]
        return FolderResultStore(folder, clock, within, is_shared=True)

    return start


def rows(start: int, count: int) -> pa.RecordBatch:
    numbers = range(start, start + count)
    return pa.record_batch([pa.array(numbers), pa.array([f"é{n}" for n in numbers])], schema=SCHEMA)


def part_of(batches: list[pa.RecordBatch]) -> tuple[Part, bytes]:
    """Returns the batches as a part without a file, and its bytes."""
    messages = [batch.serialize().to_pybytes() for batch in batches]
    described, offset = [], 0
    for batch, message in zip(batches, messages, strict=True):
        described.append(Batch(offset, len(message), batch.num_rows, batch.nbytes))
        offset += len(message)
    return Part(tuple(described), inline=b"".join(messages)), b"".join(messages)


def place_of(store: FolderResultStore, query_id: UUID) -> Path:
    """Returns the folder that executors write to, and creates it as they do."""
    place = store.place(query_id)
    assert place is not None
    path = Path(unquote(urlsplit(place.address).path))
    path.mkdir(exist_ok=True)
    return path


def written(path: Path) -> WrittenRows:
    """Writes 60 rows as executors do: two files, and a part between them that came to the driver."""
    first, data = part_of([rows(0, 10), rows(10, 10)])
    (path / "a.part").write_bytes(data + b"a batch that nobody wants")
    inline, _ = part_of([rows(20, 10)])
    last, data = part_of([rows(30, 30)])
    (path / "b.part").write_bytes(data)
    return WrittenRows(SCHEMA, (Part(first.batches, "a.part"), inline, Part(last.batches, "b.part")))


def kept(store: FolderResultStore) -> UUID:
    query_id = uuid4()
    store.keep(query_id, written(place_of(store, query_id)), COLUMNS, is_truncated=True)
    return query_id


def whole(store: FolderResultStore, query_id: UUID) -> bytes:
    stream = store.open(query_id)
    return b"".join(stream.blocks(0, stream.byte_count))


def names(path: Path) -> set[str]:
    return {file.name for file in path.iterdir()}


def test_rows_that_others_wrote_are_chunks_and_one_stream(replica: Callable[..., FolderResultStore]) -> None:
    store, query_id = replica(), uuid4()
    path = place_of(store, query_id)
    given = written(path)
    (path / "late-attempt.part").write_bytes(b"rows of a task that ran twice")
    manifest = store.keep(query_id, given, COLUMNS, is_truncated=True)
    assert manifest.chunks == (Chunk(0, 0, 10), Chunk(1, 10, 10), Chunk(2, 20, 10), Chunk(3, 30, 30))
    assert (manifest.row_count, manifest.is_truncated) == (60, True)
    expected = pa.Table.from_batches([rows(0, 60)])
    assert pa.concat_tables(store.chunk(query_id, chunk.index) for chunk in manifest.chunks) == expected
    assert pa.ipc.open_stream(whole(store, query_id)).read_all() == expected
    assert manifest.byte_count == sum(
        rows(0, 60).slice(chunk.row_offset, chunk.row_count).nbytes for chunk in manifest.chunks
    )
    assert names(path) == {"a.part", "b.part", "inline-00001.part", NAME}


def test_every_range_is_that_part_of_the_stream(replica: Callable[..., FolderResultStore]) -> None:
    store, random = replica(), Random(1)
    query_id = kept(store)
    stream, data = store.open(query_id), whole(store, query_id)
    assert len(data) == stream.byte_count
    for _ in range(500):
        start, stop = sorted(random.choices(range(len(data) + 1), k=2))
        assert b"".join(stream.blocks(start, stop)) == data[start:stop]


def test_any_replica_reads_any_result_and_shares_it(replica: Callable[..., FolderResultStore]) -> None:
    here, there = replica(chunk_rows=7), replica()
    put_here, written_here, shared = uuid4(), kept(here), uuid4()
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


def test_a_result_ends_for_all_replicas_at_its_time(
    replica: Callable[..., FolderResultStore], clock: FakeClock
) -> None:
    here, there = replica(), replica()
    query_id = kept(here)
    clock.advance(TTL - TICK)
    assert there.chunk(query_id, 0) == here.chunk(query_id, 0)
    clock.advance(TICK)
    for store in (here, there):
        assert store.manifest(query_id) is None
        with pytest.raises(ResultExpired):
            store.chunk(query_id, 0)
        with pytest.raises(ResultExpired):
            store.open(query_id)


def test_a_stream_ends_with_its_result(replica: Callable[..., FolderResultStore], clock: FakeClock) -> None:
    here, there = replica(), replica()
    for reader in (here, there):
        for is_dropped in (True, False):
            query_id = kept(here)
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


def test_two_readers_at_their_own_pace_get_the_same(replica: Callable[..., FolderResultStore]) -> None:
    store = replica()
    query_id = kept(store)
    stream = store.open(query_id)
    slow, data = stream.blocks(0, stream.byte_count), whole(store, query_id)
    read = [next(slow)]
    assert whole(store, query_id) == data
    assert b"".join([*read, *slow]) == data
    # One that goes away in the middle leaves no file open.
    before = len(list(Path("/proc/self/fd").iterdir()))
    left = stream.blocks(0, stream.byte_count)
    next(left), next(left)
    del left
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_results_outlive_their_replica_and_are_deleted_by_another(
    replica: Callable[..., FolderResultStore], clock: FakeClock, folder: Path
) -> None:
    first = replica()
    query_id, unfinished = kept(first), uuid4()
    place_of(first, unfinished)
    (folder / "not-a-result").mkdir()
    first.close()
    second = replica()
    assert second.chunk(query_id, 0).num_rows == 10
    clock.advance(TTL + GRACE)
    second.sweep()
    assert names(folder) == {str(query_id), str(unfinished), "not-a-result"}
    clock.advance(max(TICK, LEFTOVERS_EVERY))
    second.sweep()
    assert names(folder) == {str(unfinished), "not-a-result"}


def test_rows_that_never_became_a_result_are_deleted_when_nobody_can_write_them(
    replica: Callable[..., FolderResultStore], clock: FakeClock, folder: Path
) -> None:
    store, unfinished = replica(), uuid4()
    path = place_of(store, unfinished)
    begun = clock.now().timestamp()
    os.utime(path, (begun, begun))
    clock.advance(ResultBounds().unfinished_after)
    store.sweep()
    assert names(folder) == {str(unfinished)}
    clock.advance(LEFTOVERS_EVERY)
    store.sweep()
    assert names(folder) == set()


def test_a_start_deletes_what_a_lost_replica_has_left(
    replica: Callable[..., FolderResultStore], clock: FakeClock, folder: Path
) -> None:
    kept(replica())
    clock.advance(TTL + GRACE + TICK)
    replica()
    assert names(folder) == set()


def test_a_result_that_is_too_large_or_cannot_be_kept_leaves_nothing(
    replica: Callable[..., FolderResultStore], folder: Path
) -> None:
    store, query_id = replica(total_bytes=100), uuid4()
    given = written(place_of(store, query_id))
    with pytest.raises(ResultTooLarge):
        store.keep(query_id, given, COLUMNS, is_truncated=False)
    assert names(folder) == set()
    store = replica()
    given = written(place_of(store, query_id))
    shutil.rmtree(folder / str(query_id))
    with pytest.raises(QueryFailed):
        store.keep(query_id, given, COLUMNS, is_truncated=False)
    assert (names(folder), store.use.entries) == (set(), 0)


def test_the_oldest_results_make_room_for_written_ones(replica: Callable[..., FolderResultStore]) -> None:
    one = replica()
    kept(one)
    store = replica(total_bytes=one.use.byte_count * 5 // 2)
    first, second, third = kept(store), kept(store), kept(store)
    assert store.manifest(first) is None
    assert store.chunk(second, 0) == store.chunk(third, 0)
    assert store.use.entries == 2


@pytest.mark.parametrize("content", ["", "{", "[]", json.dumps({"version": 2}), json.dumps({"version": 1})])
def test_a_manifest_of_another_version_is_no_result(
    content: str, replica: Callable[..., FolderResultStore], folder: Path
) -> None:
    here, there = replica(), replica()
    query_id = kept(here)
    (folder / str(query_id) / NAME).write_text(content)
    assert there.manifest(query_id) is None
    assert here.chunk(query_id, 0).num_rows == 10


def test_an_engine_elsewhere_gets_no_place_on_this_disk(tmp_path: Path, clock: FakeClock) -> None:
    store = FolderResultStore(tmp_path, clock, ResultBounds(), is_reached_by_engine=False)
    assert store.place(uuid4()) is None
    store.close()


def test_rows_of_an_earlier_run_go_when_a_later_one_has_few(
    replica: Callable[..., FolderResultStore],
) -> None:
    store, query_id = replica(), uuid4()
    path = place_of(store, query_id)
    written(path)
    table = pa.Table.from_batches([rows(0, 3)])
    store.put(query_id, table, COLUMNS, is_truncated=False)
    assert sorted(file.name for file in path.iterdir()) == [NAME, "rows.part"]
    assert store.chunk(query_id, 0) == table


def test_a_shared_result_takes_the_place_of_what_its_query_had(
    replica: Callable[..., FolderResultStore],
) -> None:
    store, query_id, other = replica(), uuid4(), uuid4()
    store.put(query_id, pa.Table.from_batches([rows(0, 3)]), COLUMNS, is_truncated=False)
    store.put(other, pa.Table.from_batches([rows(5, 5)]), COLUMNS, is_truncated=False)
    assert store.share(query_id, other)
    assert store.chunk(other, 0) == store.chunk(query_id, 0)
    assert store.use.entries == 2


# ---- rows that are kept for reuse -------------------------------------------------------------------


def test_rows_are_shared_only_for_the_key_that_they_were_kept_for(
    replica: Callable[..., FolderResultStore],
) -> None:
    here, there = replica(), replica()
    query_id, plain = kept(here), kept(here)
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
    replica: Callable[..., FolderResultStore],
) -> None:
    here, there = replica(), replica()
    query_id, other = kept(here), kept(here)
    assert here.note_rights(query_id, "some é rights")
    assert [store.rights(query_id) for store in (here, there)] == ["some é rights"] * 2
    # Each query has its own rights, also if it has the rows of another one.
    assert there.share(query_id, other)
    assert there.rights(other) is None
    assert not here.note_rights(uuid4(), "of no result")
    here.drop(query_id)
    assert there.rights(query_id) is None


def test_a_folder_of_one_process_needs_no_keys(tmp_path: Path, clock: FakeClock) -> None:
    store = FolderResultStore(tmp_path / "own", clock, ResultBounds(time_to_live=TTL))
    query_id, other = kept(store), uuid4()
    assert store.keep_for(query_id, "a key")
    assert store.share(query_id, other, "a key")
    assert names(place_of(store, query_id)) == {"a.part", "b.part", "inline-00001.part"}
    store.close()


# ---- results of very many chunks --------------------------------------------------------------------


class Counted(tuple[T, ...]):
    """Counts how many of its values are read."""

    reads = 0

    def __iter__(self) -> Iterator[T]:
        for value in super().__iter__():
            Counted.reads += 1
            yield value

    def __getitem__(self, index: Any) -> Any:
        Counted.reads += 1
        return super().__getitem__(index)


@pytest.mark.parametrize(("parts", "batches"), [(1, 2_000), (2_000, 1), (40, 50)])
def test_each_chunk_is_found_without_a_walk_over_all(parts: int, batches: int) -> None:
    made = [
        Part(Counted(Batch(at, 1, part, 1) for at in range(batches)), f"{part}.part") for part in range(parts)
    ]
    rows_of_all = WrittenRows(SCHEMA, Counted(made))
    stored = StoredResult(Path("it"), uuid4(), COLUMNS, rows_of_all, is_truncated=False, expires_at_ms=0)
    count, before = parts * batches, Counted.reads
    for index in range(count):
        found = stored.batch(index)
        assert found is not None
        path, batch = found
        assert (path.name, batch.offset) == (f"{index // batches}.part", index % batches)
        assert len(stored.manifest.chunks) == count
    assert Counted.reads - before < 10 * count
    assert stored.batch(count) is stored.batch(-1) is None


def test_another_replica_reads_the_manifest_of_many_chunks_once(
    replica: Callable[..., FolderResultStore], folder: Path, opened: list[str]
) -> None:
    here, there = replica(chunk_rows=1), replica()
    query_id = uuid4()
    here.put(query_id, pa.Table.from_batches([rows(0, 500)]), COLUMNS, is_truncated=False)
    opened.clear()
    for index in range(500):
        assert there.chunk(query_id, index).column("n").to_pylist() == [index]
        assert there.manifest(query_id) is not None
    assert opened.count(str(folder / str(query_id) / NAME)) == 1
    # Another result in its place is seen at once, and so is that it is gone.
    here.put(query_id, pa.Table.from_batches([rows(7, 1)]), COLUMNS, is_truncated=False)
    assert there.chunk(query_id, 0).column("n").to_pylist() == [7]
    here.drop(query_id)
    with pytest.raises(ResultExpired):
        there.chunk(query_id, 0)


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """The names of the files that this process opens during the test."""
    names_of: list[str] = []
    is_over = False

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        # A hook stays until the process ends.
        if event == "open" and not is_over:
            names_of.append(str(arguments[0]))

    sys.addaudithook(note)
    yield names_of
    is_over = True
