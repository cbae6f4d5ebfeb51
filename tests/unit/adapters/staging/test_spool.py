"""Bodies on the gateway's own disk."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from service.adapters.disk.file_lock import FileLock
from service.adapters.disk.scratch_directory import LOCK_NAME
from service.adapters.staging.spool import IN_MEMORY_BYTES, SpoolDirectory
from service.errors.gateway_error import CannotStart
from service.errors.ingest_errors import IngestInvalid, TooManyIngests
from service.errors.unavailable import StorageDown

ROOM = 4 * IN_MEMORY_BYTES


def bodies(parent: Path) -> list[Path]:
    return [path for path in parent.rglob("*") if path.is_file() and path.name not in (LOCK_NAME, ".lock")]


def test_a_small_body_stays_in_memory_and_a_large_one_is_a_file_until_it_is_closed(tmp_path: Path) -> None:
    with closing(SpoolDirectory(tmp_path, ROOM)) as directory:
        spool = directory.new()
        spool.write(b"x" * IN_MEMORY_BYTES)
        assert bodies(tmp_path) == []
        spool.write(b"y")
        [file] = bodies(tmp_path)
        assert file.stat().st_size == IN_MEMORY_BYTES + 1
        assert file.stat().st_mode & 0o077 == 0
        spool.close()
        assert bodies(tmp_path) == []


def test_what_a_dead_process_left_goes_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    FileLock(left / LOCK_NAME).close()
    (left / "body").write_bytes(b"x")
    with closing(SpoolDirectory(tmp_path, ROOM)):
        assert not left.exists()


def test_a_full_disk_is_reported_as_such(tmp_path: Path) -> None:
    with closing(SpoolDirectory(tmp_path, ROOM)) as directory:
        spool = directory.new()
        directory.close()
        with pytest.raises(StorageDown):
            spool.write(b"x" * 2 * IN_MEMORY_BYTES)
        spool.close()


def test_a_folder_that_cannot_be_made_is_reported_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("")
    with pytest.raises(CannotStart):
        SpoolDirectory(tmp_path / "spool", ROOM)


def test_all_together_take_no_more_of_the_disk_than_they_may(tmp_path: Path) -> None:
    with closing(SpoolDirectory(tmp_path, ROOM)) as directory:
        first, second, small = (directory.new() for _ in range(3))
        first.write(b"x" * (ROOM - 2 * IN_MEMORY_BYTES))
        second.write(b"y" * 2 * IN_MEMORY_BYTES)
        # A body in memory takes no room on the disk.
        small.write(b"z" * IN_MEMORY_BYTES)
        for spool in (second, small):
            with pytest.raises(TooManyIngests):
                spool.write(b"y")
        for _ in range(2):
            first.close()
        second.write(b"y" * 2 * IN_MEMORY_BYTES)
        with pytest.raises(TooManyIngests):
            small.write(b"z")
        with second.open() as opened:
            assert opened.read() == b"y" * 4 * IN_MEMORY_BYTES
        second.close()


def test_what_could_never_have_room_is_refused_for_good(tmp_path: Path) -> None:
    with closing(SpoolDirectory(tmp_path, ROOM)) as directory:
        spool = directory.new()
        spool.write(b"x" * ROOM)
        with pytest.raises(IngestInvalid, match="SLUICE_INGEST_MAX_SPOOLED_BYTES"):
            spool.write(b"x")
        spool.close()
        assert bodies(tmp_path) == []
        with closing(directory.new()) as another:
            another.write(b"x" * ROOM)
