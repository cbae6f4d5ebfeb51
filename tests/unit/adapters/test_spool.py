"""Bodies on the gateway's own disk."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from service.adapters.file_lock import FileLock
from service.adapters.scratch_directory import LOCK_NAME
from service.adapters.spool import IN_MEMORY_BYTES, SpoolDirectory
from service.errors import CannotStart, StorageDown


def bodies(parent: Path) -> list[Path]:
    return [each for each in parent.rglob("*") if each.is_file() and each.name not in (LOCK_NAME, ".lock")]


def test_a_small_body_stays_in_memory_and_a_large_one_is_a_file_until_it_is_closed(tmp_path: Path) -> None:
    with closing(SpoolDirectory(tmp_path)) as directory:
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
    with closing(SpoolDirectory(tmp_path)):
        assert not left.exists()


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    with closing(SpoolDirectory(tmp_path)) as directory:
        spool = directory.new()
        directory.close()
        with pytest.raises(StorageDown):
            spool.write(b"x" * 2 * IN_MEMORY_BYTES)
        spool.close()


def test_a_folder_that_cannot_be_made_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("")
    with pytest.raises(CannotStart):
        SpoolDirectory(tmp_path / "spool")
