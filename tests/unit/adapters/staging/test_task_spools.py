"""Data that a task decompresses onto Spark's disk."""

from __future__ import annotations

import pickle
import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from service.adapters.staging.task_spools import TaskSpools
from service.errors.unavailable import StorageDown

MIB = 1024**2


@contextmanager
def small_disk() -> Iterator[None]:
    """Limits the size of this process's files until the block ends."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def open_files(folder: Path) -> list[str]:
    return [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if _is_in(path, folder)]


def _is_in(handle: Path, folder: Path) -> bool:
    return handle.is_symlink() and str(handle.readlink()).startswith(str(folder))


def test_it_lies_in_sparks_first_folder_and_has_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/nowhere")
    spools: TaskSpools = pickle.loads(pickle.dumps(TaskSpools()))
    with closing(spools.new()) as spool:
        spool.write(b"x" * MIB)
        assert list(tmp_path.iterdir()) == []
        assert len(open_files(tmp_path)) == 1
    assert open_files(tmp_path) == []


def test_a_disk_that_is_full_or_gone_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    with closing(TaskSpools().new()) as spool, small_disk(), pytest.raises(StorageDown):
        spool.write(b"x" * (MIB + 1))
    assert open_files(tmp_path) == []
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "gone"))
    with pytest.raises(StorageDown):
        TaskSpools().new()
