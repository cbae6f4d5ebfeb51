"""The contract of result stores, and how the ones in folders use the disk."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Thread
from uuid import UUID, uuid4

import pyarrow as pa
import pytest

from service.adapters.results.result_store import FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from service.errors.gateway_error import CannotStart
from service.errors.query_errors import (
    ChunkNotFound,
    NoRoomForResult,
    QueryFailed,
    ResultExpired,
    ResultTooLarge,
)
from service.model.query.results import Chunk, Column
from service.ports.stores.result_store import ResultStore
from tests.contract.shared_places import SharedBucket
from tests.fakes.clock import FakeClock
from tests.fakes.result_store import FakeResultStore
from tests.integration.object_store.server import ObjectStore

HOUR = timedelta(hours=1)
COLUMNS = (Column("n", "BIGINT", False),)
MakeStore = Callable[..., ResultStore]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["own", "shared"])
def make_local(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> Iterator[Callable[..., FolderResultStore]]:
    made = []

    def make(**bounds: int) -> FolderResultStore:
        folder, is_shared = tmp_path / "results", request.param == "shared"
        within = ResultBounds(time_to_live=HOUR, **bounds)  # type: ignore[arg-type]
        made.append(FolderResultStore(folder, clock, within, is_shared=is_shared))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture(params=["fake", "own", "shared", "objects"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[MakeStore]:
    made: list[FolderResultStore] = []

    def fake(**bounds: int) -> ResultStore:
        return FakeResultStore(clock, HOUR, **bounds)

    def folder(**bounds: int) -> ResultStore:
        within = ResultBounds(time_to_live=HOUR, **bounds)  # type: ignore[arg-type]
        made.append(FolderResultStore(tmp_path / "it", clock, within, is_shared=request.param == "shared"))
        return made[-1]

    def objects(**bounds: int) -> ResultStore:
        server: ObjectStore = request.getfixturevalue("object_server")
        bucket = SharedBucket(server, server.make_bucket(f"b-{uuid4().hex}"), clock)
        return bucket.replica(**bounds)

    yield {"fake": fake, "objects": objects}.get(request.param, folder)
    for store in made:
        store.close()


def numbers(count: int, start: int = 0) -> pa.Table:
    return pa.table({"n": pa.array(range(start, start + count), pa.int64())})


def put(store: ResultStore, rows: pa.Table) -> UUID:
    query_id = uuid4()
    store.put(query_id, rows, COLUMNS, is_truncated=False)
    return query_id


def test_a_result_comes_back_chunk_by_chunk(make: MakeStore) -> None:
    store, query_id = make(chunk_rows=100), uuid4()
    manifest = store.put(query_id, numbers(250), COLUMNS, is_truncated=True)
    assert manifest.chunks == (Chunk(0, 0, 100), Chunk(1, 100, 100), Chunk(2, 200, 50))
    assert (manifest.columns, manifest.row_count, manifest.is_truncated) == (COLUMNS, 250, True)
    assert manifest.byte_count == 2_000
    chunks = [store.chunk(query_id, chunk.index) for chunk in manifest.chunks]
    assert pa.concat_tables(chunks) == numbers(250)


def test_a_chunk_is_the_same_on_every_read(make: MakeStore) -> None:
    store = make(chunk_rows=10)
    query_id = put(store, numbers(20))
    assert store.chunk(query_id, 1) == store.chunk(query_id, 1) == numbers(10, start=10)


def test_a_result_without_rows_has_one_chunk_without_rows(make: MakeStore) -> None:
    store, query_id = make(), uuid4()
    manifest = store.put(query_id, numbers(0), COLUMNS, is_truncated=False)
    assert manifest.chunks == (Chunk(0, 0, 0),)
    assert store.chunk(query_id, 0) == numbers(0)


def test_columns_of_one_name_stay_apart(make: MakeStore) -> None:
    store = make()
    rows = pa.table([pa.array([1]), pa.array(["a"])], names=["x", "x"])
    assert store.chunk(put(store, rows), 0) == rows


def test_a_chunk_that_does_not_exist_is_not_found(make: MakeStore) -> None:
    store = make()
    query_id = put(store, numbers(1))
    for index in (1, -1):
        with pytest.raises(ChunkNotFound):
            store.chunk(query_id, index)


def test_an_unknown_or_evicted_result_is_gone(make: MakeStore) -> None:
    store = make()
    query_id = put(store, numbers(1))
    store.drop(query_id)
    store.drop(query_id)
    for gone in (query_id, uuid4()):
        with pytest.raises(ResultExpired):
            store.chunk(gone, 0)


def test_a_result_lives_for_its_time_and_no_longer(make: MakeStore, clock: FakeClock) -> None:
    store = make()
    query_id = put(store, numbers(1))
    clock.advance(HOUR - timedelta(milliseconds=1))
    assert store.chunk(query_id, 0) == numbers(1)
    clock.advance(timedelta(milliseconds=1))
    with pytest.raises(ResultExpired):
        store.chunk(query_id, 0)


def test_the_oldest_results_make_room(make: MakeStore) -> None:
    store = make(total_bytes=20_000)
    first, second, third = (put(store, numbers(1_000)) for _ in range(3))
    with pytest.raises(ResultExpired):
        store.chunk(first, 0)
    assert store.chunk(third, 0) == numbers(1_000)
    assert store.chunk(second, 0) == numbers(1_000)


def test_a_result_larger_than_the_store_is_refused_and_nothing_else_is_lost(make: MakeStore) -> None:
    store = make(total_bytes=20_000)
    stored = put(store, numbers(1))
    with pytest.raises(ResultTooLarge):
        put(store, numbers(3_000))
    assert store.chunk(stored, 0) == numbers(1)


def test_a_shared_result_lives_as_long_as_either_query(make: MakeStore, clock: FakeClock) -> None:
    store, other = make(), uuid4()
    query_id = put(store, numbers(5))
    clock.advance(HOUR / 2)
    assert store.share(query_id, other)
    store.drop(query_id)
    assert store.chunk(other, 0) == numbers(5)
    clock.advance(HOUR - timedelta(milliseconds=1))
    assert store.chunk(other, 0) == numbers(5)
    clock.advance(timedelta(milliseconds=1))
    with pytest.raises(ResultExpired):
        store.chunk(other, 0)


def test_a_result_that_is_gone_cannot_be_shared(make: MakeStore, clock: FakeClock) -> None:
    store = make()
    dropped, expired = put(store, numbers(1)), put(store, numbers(1))
    store.drop(dropped)
    clock.advance(HOUR)
    for gone in (dropped, expired, uuid4()):
        assert not store.share(gone, uuid4())


def test_shared_rows_take_their_room_once(make: MakeStore) -> None:
    store = make(total_bytes=20_000)
    first = put(store, numbers(1_000))
    others = [uuid4() for _ in range(20)]
    assert all(store.share(first, other) for other in others)
    second = put(store, numbers(1_000))
    assert all(store.chunk(each, 0) == numbers(1_000) for each in (first, *others, second))
    third = put(store, numbers(1_000))
    for gone in (first, *others):
        with pytest.raises(ResultExpired):
            store.chunk(gone, 0)
    assert store.chunk(second, 0) == store.chunk(third, 0) == numbers(1_000)


# ---- the store on the disk ------------------------------------------------------------------------

EVERY_TYPE = {
    "null": pa.array([None, None, None]),
    "bool": pa.array([True, None, False]),
    "int8": pa.array([1, None, -1], pa.int8()),
    "uint64": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "float16": pa.array([1.5, None, 0.0], pa.float16()),
    "double": pa.array([float("inf"), None, 0.0]),
    "decimal": pa.array([Decimal("1.10"), None, Decimal("-2.00")], pa.decimal128(7, 2)),
    "decimal256": pa.array([Decimal("1.10"), None, Decimal("-2.00")], pa.decimal256(60, 2)),
    "string": pa.array(["ü", None, ""]),
    "large_string": pa.array(["ü", None, ""], pa.large_string()),
    "string_view": pa.array(["ü" * 20, None, ""], pa.string_view()),
    "binary": pa.array([b"\0", None, b""]),
    "fixed": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "date": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
    "time": pa.array([time(1, 2, 3), None, time()]),
    "timestamp": pa.array([datetime(2026, 1, 1), None, datetime(1, 1, 1)], pa.timestamp("us")),
    "timestamp_utc": pa.array([datetime(2026, 1, 1), None, None], pa.timestamp("us", "UTC")),
    "duration": pa.array([timedelta(1), None, timedelta()], pa.duration("us")),
    "interval": pa.array([(1, 2, 3), None, (0, 0, 0)], pa.month_day_nano_interval()),
    "list": pa.array([[1, None], None, []], pa.list_(pa.int32())),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}]),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
    "run_end": pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["a", "b"])),
}


@pytest.mark.parametrize("name", EVERY_TYPE)
@pytest.mark.parametrize("chunk_rows", [2, 10])
def test_every_arrow_type_survives(
    make_local: Callable[..., FolderResultStore], name: str, chunk_rows: int
) -> None:
    store, query_id = make_local(chunk_rows=chunk_rows), uuid4()
    rows = pa.table({"value": EVERY_TYPE[name]})
    manifest = store.put(query_id, rows, COLUMNS, is_truncated=False)
    chunks = [store.chunk(query_id, chunk.index) for chunk in manifest.chunks]
    read = pa.concat_tables(chunks)
    assert read.schema == rows.schema
    assert read.to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_every_arrow_type_survives_without_rows(
    make_local: Callable[..., FolderResultStore], name: str
) -> None:
    store = make_local()
    rows = pa.table({"value": EVERY_TYPE[name]}).slice(0, 0)
    assert store.chunk(put(store, rows), 0).schema == rows.schema


def test_wide_rows_are_cut_by_bytes(make_local: Callable[..., FolderResultStore]) -> None:
    store = make_local(chunk_bytes=10_000)
    rows = pa.table({"n": ["x" * 1_000] * 100})
    manifest = store.put(uuid4(), rows, COLUMNS, is_truncated=False)
    assert all(0 < chunk.row_count <= 10 for chunk in manifest.chunks)
    assert sum(chunk.row_count for chunk in manifest.chunks) == 100


def test_a_swept_result_leaves_the_disk(
    make_local: Callable[..., FolderResultStore], tmp_path: Path, clock: FakeClock
) -> None:
    store = make_local()
    put(store, numbers(10))
    clock.advance(HOUR)
    put(store, numbers(10))
    store.sweep()
    assert len(list(tmp_path.rglob("*.part"))) == 1


def test_rows_that_were_read_outlive_their_file(make_local: Callable[..., FolderResultStore]) -> None:
    store = make_local()
    query_id = put(store, numbers(100_000))
    rows = store.chunk(query_id, 0)
    store.drop(query_id)
    assert rows == numbers(10_000)


@pytest.fixture
def make_own(tmp_path: Path, clock: FakeClock) -> Iterator[Callable[[], FolderResultStore]]:
    made: list[FolderResultStore] = []

    def make() -> FolderResultStore:
        made.append(FolderResultStore(tmp_path / "results", clock, ResultBounds()))
        return made[-1]

    yield make
    for store in made:
        store.close()


def test_files_of_an_earlier_process_are_removed_and_those_of_a_living_one_are_not(
    make_own: Callable[[], FolderResultStore], tmp_path: Path
) -> None:
    left_behind = tmp_path / "results" / "earlier" / "result.arrow"
    left_behind.parent.mkdir(parents=True)
    left_behind.write_bytes(b"rows")
    living = make_own()
    query_id = put(living, numbers(1))
    make_own()
    assert not left_behind.exists()
    assert living.chunk(query_id, 0) == numbers(1)


def test_a_full_disk_refuses_the_result_and_leaves_no_piece_of_it(
    make_local: Callable[..., FolderResultStore], tmp_path: Path
) -> None:
    store = make_local()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(NoRoomForResult, match="no room"):
            put(store, numbers(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.rglob("*.part")) == []
    assert store.chunk(put(store, numbers(1)), 0) == numbers(1)


def test_a_directory_that_vanished_is_named_without_its_path(
    make_own: Callable[[], FolderResultStore], tmp_path: Path
) -> None:
    store = make_own()
    store.close()
    with pytest.raises(QueryFailed) as caught:
        put(store, numbers(1))
    assert str(tmp_path) not in caught.value.detail


def test_a_directory_that_cannot_be_made_is_one_sentence_with_the_cure(
    tmp_path: Path, clock: FakeClock
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match="choose a directory"):
        FolderResultStore(tmp_path / "file" / "below", clock, ResultBounds(), is_shared=True)


def test_many_threads_put_read_and_drop_at_once(make: MakeStore) -> None:
    store = make(total_bytes=50_000_000, chunk_rows=1_000)
    failures: list[str] = []

    def work(start: int) -> None:
        for turn in range(15):
            rows = numbers(5_000, start=start + turn)
            query_id = put(store, rows)
            try:
                if store.chunk(query_id, 4) != rows.slice(4_000):
                    failures.append("other rows")
            except ResultExpired:
                failures.append("gone")
            store.drop(query_id)

    threads = [Thread(target=work, args=(number * 1_000_000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_file_of_a_shared_result_goes_with_the_last_query(
    make_local: Callable[..., FolderResultStore], tmp_path: Path
) -> None:
    store, other = make_local(), uuid4()
    query_id = put(store, numbers(1_000))
    assert store.share(query_id, other)
    taken = store.use.byte_count
    store.drop(query_id)
    store.drop(query_id)
    assert (store.use.byte_count, store.use.entries) == (taken, 1)
    assert len(list(tmp_path.rglob("*.part"))) == 1
    store.drop(other)
    assert (store.use.byte_count, store.use.entries) == (0, 0)
    assert not list(tmp_path.rglob("*.part"))


def test_a_file_that_another_process_has_removed_cannot_be_shared(
    make_local: Callable[..., FolderResultStore], tmp_path: Path
) -> None:
    store = make_local()
    query_id = put(store, numbers(1))
    [file] = tmp_path.rglob("*.part")
    file.unlink()
    assert not store.share(query_id, uuid4())
