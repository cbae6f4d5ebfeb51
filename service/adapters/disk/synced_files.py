"""Syncs files, so that they survive a power failure."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pyiceberg.io.pyarrow import PyArrowFileIO

_AT_ONCE = 8
# In a busy process, starting threads takes longer than syncing a few small files.
_FEW = 8
# A folder without a new entry for this long is already on the disk: the kernel writes it within half a
# minute.
_OLD_S = 3600
# The next entry may come within the same tick of the file system's clock, and then does not change the time.
_TICK_S = 3
_MAX_CACHED_FOLDERS = 4096


Fsync = Callable[[int], None]
Sync = Callable[[Iterable[str]], None]
"""Returns once these complete files survive a power failure; raises OSError."""


def sync_files(
    locations: Iterable[str], fsync: Fsync = os.fsync, now_s: Callable[[], float] = time.time
) -> None:
    """Returns once complete files, and the folders that lead to them, are on the disk.

    Files that are not on a disk of this machine were made durable by their storage when they were closed.

    Raises:
        OSError: the disk does not accept them.
    """
    paths = [path for location in locations if (path := path_on_disk(location)) is not None]
    if len(paths) > _FEW:
        # A disk syncs many files at once in about the time of one; handing them out one by one would cost as
        # much.
        shares = [paths[start::_AT_ONCE] for start in range(_AT_ONCE)]
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sync") as pool:
            list(pool.map(lambda share: _sync_each(share, fsync), shares))
    else:
        _sync_each(paths, fsync)
    changed = _changed_folders(paths)
    for folder in sorted(changed, reverse=True):
        state = changed[folder]
        # Each new entry changes this time, which no program can set.
        if state.st_ctime < now_s() - _TICK_S:
            _sync_folder_once(folder, state.st_dev, state.st_ino, state.st_ctime_ns, fsync)
        else:
            _sync_folder(folder, fsync)


def not_synced(locations: Iterable[str]) -> None:
    """Does nothing: the kernel decides when the files get to the disk."""


def path_on_disk(location: str) -> Path | None:
    """Returns the path of a file on a disk of this machine. None: it is elsewhere."""
    scheme, _, path = PyArrowFileIO.parse_location(location)
    return Path(path) if scheme == "file" else None


def _changed_folders(paths: Iterable[Path]) -> Mapping[Path, os.stat_result]:
    """The files' folders, and those above each of them up to one without a new entry for long."""
    found: dict[Path, os.stat_result] = {}
    for path in paths:
        for folder in path.parents:
            if folder in found:
                break
            state = folder.stat()
            if folder != path.parent and state.st_mtime < time.time() - _OLD_S:
                break
            found[folder] = state
    return found


@lru_cache(_MAX_CACHED_FOLDERS)
def _sync_folder_once(folder: Path, _device: int, _inode: int, _changed_ns: int, fsync: Fsync) -> None:
    # The cache records only that the sync succeeded: the folder has not changed since.
    _sync_folder(folder, fsync)


def _sync_each(paths: Iterable[Path], fsync: Fsync) -> None:
    for path in paths:
        _sync(path, fsync)


def _sync(path: Path, fsync: Fsync) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path, fsync: Fsync) -> None:
    # A user who may write into a folder may lack the right to list those far above it, and not all file
    # systems can sync folders.
    with suppress(PermissionError):
        try:
            _sync(folder, fsync)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
