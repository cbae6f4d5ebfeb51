"""The storages of sources, as PyArrow's file systems."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow.fs as pafs

from service.adapters.sources.object_stores import file_system
from service.errors.source_errors import SourceNotAllowed
from service.model.ingest.source_uris import FILE, SourceUri

_SECOND_NS = 1_000_000_000
# No such name, a file in place of a folder, a name that is too long, and links in a circle.
_NOTHING_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """The prefixes that may be read, and the properties to reach them; it travels to executors.

    `properties` are those of PyIceberg's `FileIO`. Missing ones, such as credentials, come from the
    environment of the reading process. They may be secrets, so its repr omits them.
    """

    prefixes: tuple[str, ...]
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def file_system(self, uri: SourceUri) -> Any:
        """Returns PyArrow's file system for the address.

        Raises:
            OSError: there is no such file system, or it cannot be reached.
        """
        if uri.scheme == FILE:
            return pafs.LocalFileSystem()
        return file_system(tuple(sorted(self.properties.items())), uri.scheme, uri.authority)

    def check(self, uri: SourceUri) -> None:
        """Checks by its name that the address may be read.

        Raises:
            SourceNotAllowed: it may not be read.
        """
        if not self.prefixes:
            raise SourceNotAllowed(
                "Callers may not read from sources here: the setting ingest_source_prefixes is empty."
            )
        if not any(uri.is_below(SourceUri.parse(prefix)) for prefix in self.prefixes):
            raise SourceNotAllowed(
                f"{uri} is outside of the locations that callers may read: see the setting"
                " ingest_source_prefixes."
            )

    def check_real(self, uri: SourceUri) -> None:
        """Checks that a file or folder on a disk is where its name says, and not behind a link to elsewhere.

        Raises:
            SourceNotAllowed: it is outside of what may be read.
        """
        if uri.scheme == FILE and not self._is_inside(os.path.realpath(uri.path)):
            raise SourceNotAllowed(f"{uri} leads out of what may be read here.")

    def check_open(self, uri: SourceUri, descriptor: int) -> None:
        """Checks the same for an open file, which cannot be replaced any more.

        Raises:
            SourceNotAllowed: it is outside of what may be read.
        """
        try:
            real = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
        except OSError:
            # Not Linux: the check of the name has to be enough.
            return
        if not self._is_inside(real):
            raise SourceNotAllowed(f"{uri} leads out of what may be read here.")

    def _is_inside(self, real: str) -> bool:
        roots = (SourceUri.parse(prefix) for prefix in self.prefixes)
        folders = [os.path.realpath(root.path) for root in roots if root.scheme == FILE]
        return any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in folders)


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder's entry of one name."""

    name: str
    is_folder: bool
    byte_count: int = 0
    modified_ns: int = 0
    is_link: bool = False


def entries(access: SourceAccess, folder: SourceUri) -> Iterator[Entry]:
    """Yields the direct entries of the folder; nothing if it does not exist.

    Raises:
        OSError: the storage does not answer.
    """
    if folder.scheme == FILE:
        yield from _on_disk(folder.path)
        return
    selector = pafs.FileSelector(folder.path, allow_not_found=True, recursive=False)
    yield from _named(access.file_system(folder).get_file_info(selector))


def entry(access: SourceAccess, uri: SourceUri) -> Entry | None:
    """Returns the entry at exactly this address. None: there is nothing.

    Raises:
        OSError: the storage does not answer.
    """
    if uri.scheme == FILE:
        status = _status(lambda: os.stat(uri.path))  # noqa: PTH116
        if status is None:
            return None
        return Entry(uri.segments[-1] if uri.segments else "", _is_folder(status), *_state(status))
    return next(_named(access.file_system(uri).get_file_info([uri.path])), None)


def tag(access: SourceAccess, uri: SourceUri) -> str:
    """Returns the store's name for this version of the object; empty on disks, which have no such names.

    Raises:
        OSError: the storage does not answer, or does not have it any more.
    """
    if uri.scheme == FILE:
        return ""
    with access.file_system(uri).open_input_file(uri.path) as file:
        return tag_of(file)


def tag_of(file: Any) -> str:
    """Returns the same for an open object."""
    found: bytes = (file.metadata() or {}).get("ETag", b"")
    return found.decode()


def _on_disk(path: str) -> Iterator[Entry]:
    try:
        found = os.scandir(path)
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return
        raise
    with found:
        for entry in found:
            status = _status(entry.stat)
            if status is None:
                # A link to nothing, or a file that has just been deleted.
                continue
            yield Entry(entry.name, _is_folder(status), *_state(status), entry.is_symlink())


def _status(asked: Callable[[], os.stat_result]) -> os.stat_result | None:
    try:
        return asked()
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return None
        raise


def _is_folder(status: os.stat_result) -> bool:
    # Pipes and devices are not files with an end, and cannot be listed either.
    return not stat.S_ISREG(status.st_mode)


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _named(infos: Sequence[Any]) -> Iterator[Entry]:
    for info in infos:
        if info.type == pafs.FileType.File:
            yield Entry(info.base_name, False, info.size or 0, _whole_seconds(info.mtime_ns or 0))
        elif info.type == pafs.FileType.Directory:
            yield Entry(info.base_name, True)


def _whole_seconds(moment_ns: int) -> int:
    # Some stores report milliseconds in listings, but not for single objects.
    return moment_ns // _SECOND_NS * _SECOND_NS
