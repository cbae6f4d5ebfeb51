"""Results in a folder: what they promise beyond the contract of shared results."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
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
from service.errors.query_errors import QueryFailed, ResultExpired
from service.model.query.written_rows import Batch, Part, WrittenRows
from tests.contract.shared_places import COLUMNS, SCHEMA, TICK, TTL, SharedFolder, kept, rows, written
from tests.fakes.clock import FakeClock

T = TypeVar("T")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def place(folder: Path, clock: FakeClock) -> SharedFolder:
    return SharedFolder(folder, clock)


def place_of(store: FolderResultStore, query_id: UUID) -> Path:
    """Returns the folder that executors write to, and creates it as they do."""
    place = store.place(query_id)
    assert place is not None
    path = Path(unquote(urlsplit(place.address).path))
    path.mkdir(exist_ok=True)
    return path


def names(path: Path) -> set[str]:
    return {file.name for file in path.iterdir()}


def test_a_reader_that_goes_away_leaves_no_file_open(place: SharedFolder) -> None:
    store = place.replica()
    stream = store.open(kept(place, store))
    before = len(list(Path("/proc/self/fd").iterdir()))
    left = stream.blocks(0, stream.byte_count)
    next(left), next(left)
    del left
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_rows_that_never_became_a_result_are_deleted_when_nobody_can_write_them(
    place: SharedFolder, clock: FakeClock, folder: Path
) -> None:
    store, unfinished = place.replica(), uuid4()
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
    place: SharedFolder, clock: FakeClock, folder: Path
) -> None:
    kept(place, place.replica())
    clock.advance(TTL + GRACE + TICK)
    place.replica()
    assert names(folder) == set()


def test_a_result_that_cannot_be_kept_leaves_nothing(place: SharedFolder, folder: Path) -> None:
    store, query_id = place.replica(), uuid4()
    given = written(place, store, query_id)
    shutil.rmtree(folder / str(query_id))
    with pytest.raises(QueryFailed):
        store.keep(query_id, given, COLUMNS, is_truncated=False)
    assert (names(folder), store.use.entries) == (set(), 0)


@pytest.mark.parametrize("content", ["", "{", "[]", json.dumps({"version": 2}), json.dumps({"version": 1})])
def test_a_manifest_of_another_version_is_no_result(content: str, place: SharedFolder, folder: Path) -> None:
    here, there = place.replica(), place.replica()
    query_id = kept(place, here)
    (folder / str(query_id) / NAME).write_text(content)
    assert there.manifest(query_id) is None
    assert here.chunk(query_id, 0).num_rows == 10


def test_an_engine_elsewhere_gets_no_place_on_this_disk(tmp_path: Path, clock: FakeClock) -> None:
    store = FolderResultStore(tmp_path, clock, ResultBounds(), is_reached_by_engine=False)
    assert store.place(uuid4()) is None
    store.close()


def test_rows_of_an_earlier_run_go_when_a_later_one_has_few(
    place: SharedFolder,
) -> None:
    store, query_id = place.replica(), uuid4()
    written(place, store, query_id)
    path = place_of(store, query_id)
    table = pa.Table.from_batches([rows(0, 3)])
    store.put(query_id, table, COLUMNS, is_truncated=False)
    assert sorted(file.name for file in path.iterdir()) == [NAME, "rows.part"]
    assert store.chunk(query_id, 0) == table


def test_a_folder_of_one_process_needs_no_keys(place: SharedFolder, tmp_path: Path, clock: FakeClock) -> None:
    store = FolderResultStore(tmp_path / "own", clock, ResultBounds(time_to_live=TTL))
    query_id, other = kept(place, store), uuid4()
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
    stored = StoredResult(uuid4(), COLUMNS, rows_of_all, is_truncated=False, expires_at_ms=0)
    count, before = parts * batches, Counted.reads
    for index in range(count):
        found = stored.batch(index)
        assert found is not None
        name, batch = found
        assert (name, batch.offset) == (f"{index // batches}.part", index % batches)
        assert len(stored.manifest.chunks) == count
    assert Counted.reads - before < 10 * count
    assert stored.batch(count) is stored.batch(-1) is None


def test_another_replica_reads_the_manifest_of_many_chunks_once(
    place: SharedFolder, folder: Path, opened: list[str]
) -> None:
    here, there = place.replica(chunk_rows=1), place.replica()
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
