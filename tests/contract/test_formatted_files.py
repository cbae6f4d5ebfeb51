"""The contract of files of other formats, and how the ones on the disk use it."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread
from uuid import UUID, uuid4

import pytest

from service.adapters.results.formatted_files import MAX_FILES, FolderFormattedFiles
from service.errors.gateway_error import CannotStart
from service.errors.query_errors import NoRoomForResult, ResultExpired, ResultStoreDown, ResultTooLarge
from service.errors.unavailable import ShuttingDown
from service.ports.stores.result_files import FormattedFiles, StoredFile
from tests.fakes.clock import FakeClock
from tests.fakes.formatted_files import FakeFormattedFiles

HOUR = timedelta(hours=1)
Make = Callable[[int], FormattedFiles]
LARGE = 1 << 30


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def gone() -> set[UUID]:
    """Queries whose results are gone."""
    return set()


@pytest.fixture
def make_here(
    tmp_path: Path, clock: FakeClock, gone: set[UUID]
) -> Iterator[Callable[[int], FolderFormattedFiles]]:
    made = []

    def make(total_bytes: int = LARGE) -> FolderFormattedFiles:
        is_there = lambda query_id: query_id not in gone  # noqa: E731
        made.append(FolderFormattedFiles(tmp_path / "files", clock, total_bytes, HOUR, is_there))
        return made[-1]

    yield make
    for files in made:
        files.close()


@pytest.fixture(params=["fake", "folder"])
def make(request: pytest.FixtureRequest, make_here: Callable[[int], FolderFormattedFiles]) -> Make:
    return FakeFormattedFiles if request.param == "fake" else make_here


def content(file: StoredFile | None) -> bytes:
    assert file is not None
    return b"".join(file.blocks(0, file.byte_count))


def on_disk(folder: Path) -> int:
    return len(list(folder.rglob("*.file")))


def test_a_file_that_was_written_is_found_and_read_in_parts(make: Make) -> None:
    files, query_id = make(LARGE), uuid4()
    assert files.find(query_id, "a") is None
    written = files.write(query_id, "a", iter([b"abc", b"", b"defg"]))
    found = files.find(query_id, "a")
    assert content(written) == content(found) == b"abcdefg"
    assert written.byte_count == 7
    assert b"".join(written.blocks(2, 5)) == b"cde"
    assert files.find(query_id, "b") is files.find(uuid4(), "a") is None


def test_a_large_file_comes_in_blocks(make: Make) -> None:
    files, piece = make(LARGE), bytes(range(256)) * 8192
    written = files.write(uuid4(), "a", [piece] * 2)
    blocks = list(written.blocks(1, written.byte_count - 1))
    assert max(map(len, blocks)) <= 1 << 20
    assert b"".join(blocks) == (piece * 2)[1:-1]


def test_a_file_takes_the_place_of_the_one_before(make: Make) -> None:
    files, query_id = make(10), uuid4()
    for text in (b"first", b"second", b"third"):
        files.write(query_id, "a", [text])
        assert content(files.find(query_id, "a")) == text


def test_nothing_is_left_of_a_file_that_is_not_written_to_its_end(make: Make) -> None:
    files, query_id = make(10), uuid4()

    def pieces() -> Iterator[bytes]:
        yield b"123456789"
        raise ResultExpired

    for _ in range(3):
        with pytest.raises(ResultExpired):
            files.write(query_id, "a", pieces())
        assert files.find(query_id, "a") is None
    files.write(query_id, "a", [b"1234567890"])


def test_the_least_used_files_make_room(make: Make) -> None:
    files, queries = make(30), [uuid4() for _ in range(4)]
    for query_id in queries[:3]:
        files.write(query_id, "a", [b"1234567890"])
    assert files.find(queries[0], "a")
    files.write(queries[3], "a", [b"1234", b"5678"])
    assert [files.find(query_id, "a") is not None for query_id in queries] == [True, False, True, True]


def test_a_file_larger_than_all_together_is_refused(make: Make) -> None:
    files, query_id = make(10), uuid4()
    with pytest.raises(ResultTooLarge):
        files.write(query_id, "a", [b"123456", b"123456"])
    assert files.find(query_id, "a") is None
    files.write(query_id, "a", [b"1234567890"])


# ---- files on the disk ------------------------------------------------------------------------------

MakeHere = Callable[[int], FolderFormattedFiles]


def test_files_that_are_written_at_once_share_the_room(make_here: MakeHere, tmp_path: Path) -> None:
    files = make_here(15)

    def pieces() -> Iterator[bytes]:
        yield b"1234567890"
        with pytest.raises(NoRoomForResult):
            files.write(uuid4(), "b", [b"123", b"456"])
        yield b"12345"

    first = files.write(uuid4(), "a", pieces())
    assert (first.byte_count, files.use.byte_count, on_disk(tmp_path)) == (15, 15, 1)


def test_a_file_goes_with_its_result(make_here: MakeHere, tmp_path: Path, gone: set[UUID]) -> None:
    files, kept, lost = make_here(LARGE), uuid4(), uuid4()
    for query_id in (kept, lost):
        files.write(query_id, "a", [b"text"])
    gone.add(lost)
    files.sweep()
    assert (content(files.find(kept, "a")), files.find(lost, "a")) == (b"text", None)
    assert (on_disk(tmp_path), files.use.byte_count, files.use.entries) == (1, 4, 1)


def test_a_file_lives_no_longer_than_a_result(make_here: MakeHere, tmp_path: Path, clock: FakeClock) -> None:
    files, query_id = make_here(LARGE), uuid4()
    files.write(query_id, "a", [b"text"])
    clock.advance(HOUR)
    assert files.find(query_id, "a") is None
    files.sweep()
    assert (on_disk(tmp_path), files.use.byte_count) == (0, 0)


def test_files_stay_while_nobody_knows_whether_their_results_do(tmp_path: Path, clock: FakeClock) -> None:
    def unknown(_query_id: UUID) -> bool:
        raise ResultStoreDown

    files, query_id = FolderFormattedFiles(tmp_path / "files", clock, LARGE, HOUR, unknown), uuid4()
    files.write(query_id, "a", [b"text"])
    files.sweep()
    assert content(files.find(query_id, "a")) == b"text"
    files.close()


def test_a_file_that_makes_room_while_it_is_read_is_read_to_its_end(make_here: MakeHere) -> None:
    files = make_here(3 << 20)
    piece = b"x" * (1 << 20)
    written = files.write(uuid4(), "a", [piece] * 3)
    blocks = written.blocks(0, written.byte_count)
    assert next(blocks) == piece
    files.write(uuid4(), "a", [piece])
    assert list(blocks) == [piece] * 2
    with pytest.raises(NoRoomForResult, match="Try again"):
        next(written.blocks(0, 1))


def test_all_files_are_deleted_at_once_and_written_again(make_here: MakeHere, tmp_path: Path) -> None:
    files, query_id = make_here(LARGE), uuid4()
    files.write(query_id, "a", [b"one"])
    files.write(query_id, "b", [b"two"])
    assert (files.clear(), files.clear()) == (2, 0)
    assert (files.use.entries, files.use.byte_count) == (0, 0)
    assert files.find(query_id, "a") is None
    assert not list(tmp_path.rglob("*.file"))
    assert content(files.write(query_id, "a", [b"one"])) == b"one"


def test_only_so_many_files_are_kept(make_here: MakeHere, tmp_path: Path) -> None:
    files = make_here(LARGE)
    for _ in range(MAX_FILES + 3):
        files.write(uuid4(), "a", [b"x"])
    assert (files.use.entries, on_disk(tmp_path)) == (MAX_FILES, MAX_FILES)


def test_a_full_disk_leaves_no_piece_of_the_file(make_here: MakeHere, tmp_path: Path) -> None:
    files = make_here(LARGE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(NoRoomForResult):
            files.write(uuid4(), "a", [b"x" * (1 << 20)] * 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (on_disk(tmp_path), files.use.byte_count) == (0, 0)


def test_a_stop_ends_what_is_being_written(make_here: MakeHere, tmp_path: Path) -> None:
    files = make_here(LARGE)

    def pieces() -> Iterator[bytes]:
        yield b"1"
        files.close()
        yield b"2"

    with pytest.raises(ShuttingDown):
        files.write(uuid4(), "a", pieces())
    assert on_disk(tmp_path) == 0


def test_many_threads_write_and_read_at_once(make_here: MakeHere, tmp_path: Path) -> None:
    files, queries = make_here(10_000), [uuid4() for _ in range(5)]
    failures: list[str] = []

    def work(number: int) -> None:
        for turn in range(100):
            query_id = queries[(number + turn) % 5]
            expected = query_id.bytes * 200
            try:
                if content(files.find(query_id, "a") or files.write(query_id, "a", [expected])) != expected:
                    failures.append("other bytes")
            except NoRoomForResult:
                continue

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert files.use.byte_count == files.use.entries * 3200 <= 10_000
    assert on_disk(tmp_path) == files.use.entries


def test_a_directory_that_cannot_be_made_is_one_sentence_with_the_cure(
    tmp_path: Path, clock: FakeClock
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match="choose a directory"):
        FolderFormattedFiles(tmp_path / "file" / "below", clock, LARGE, HOUR, lambda _: True)
