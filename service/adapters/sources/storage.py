"""The storages that sources lie on, as PyArrow's file systems."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow.fs as pafs

from service.adapters.sources.object_stores import file_system
from service.errors import SourceNotAllowed
from service.model.ingest.source_uris import FILE, SourceUri

_SECOND_NS = 1_000_000_000
# No such name, a file where a folder would be, a name longer than there are any, links in a circle.
_NOTHING_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """What may be read, and what it is reached with; travels to executors.

    `properties` are those of PyIceberg's `FileIO`. What they do not say, such as credentials, the environment
    of the process that reads says. They may be secrets, so no text shows them.
    """

    prefixes: tuple[str, ...]
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def file_system(self, uri: SourceUri) -> Any:
        """PyArrow's file system for the address.

        Raises:
            OSError: there is none, or it cannot be reached.
        """
        if uri.scheme == FILE:
            return pafs.LocalFileSystem()
        return file_system(tuple(sorted(self.properties.items())), uri.scheme, uri.authority)

    def check(self, uri: SourceUri) -> None:
        """Whether the address may be read, by its name.

        Raises:
            SourceNotAllowed: it may not.
        """
        if not self.prefixes:
            raise SourceNotAllowed(
                "Nothing may be read from sources here: the setting ingest_source_prefixes is empty."
            )
        if not any(uri.is_below(SourceUri.parse(each)) for each in self.prefixes):
            raise SourceNotAllowed(
                f"{uri} lies outside of what may be read here: see the setting ingest_source_prefixes."
            )

    def check_real(self, uri: SourceUri) -> None:
        """Whether a file or folder on a disk is where its name says, and not behind a link to elsewhere.

        Raises:
            SourceNotAllowed: it lies outside of what may be read.
        """
        if uri.scheme == FILE and not self._is_inside(os.path.realpath(uri.path)):
            raise SourceNotAllowed(f"{uri} leads out of what may be read here.")

    def check_open(self, uri: SourceUri, descriptor: int) -> None:
        """The same of a file that is open, which nobody can replace any more.

        Raises:
            SourceNotAllowed: it lies outside of what may be read.
        """
        try:
            real = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
        except OSError:
            # No Linux; the look at the name has to do.
            return
        if not self._is_inside(real):
            raise SourceNotAllowed(f"{uri} leads out of what may be read here.")

    def _is_inside(self, real: str) -> bool:
        roots = (SourceUri.parse(each) for each in self.prefixes)
        folders = [os.path.realpath(each.path) for each in roots if each.scheme == FILE]
        return any(real == each or real.startswith(each.rstrip("/") + "/") for each in folders)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a folder has under a name."""

    name: str
    is_folder: bool
    byte_count: int = 0
    modified_ns: int = 0
    is_link: bool = False


def entries(access: SourceAccess, folder: SourceUri) -> Iterator[Entry]:
    """What lies right in the folder; nothing if it is not there.

    Raises:
        OSError: the storage does not answer.
    """
    if folder.scheme == FILE:
        yield from _on_disk(folder.path)
        return
    selector = pafs.FileSelector(folder.path, allow_not_found=True, recursive=False)
    yield from _named(access.file_system(folder).get_file_info(selector))


def entry(access: SourceAccess, uri: SourceUri) -> Entry | None:
    """What is at this very address; None: nothing.

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
    """What the store calls this version of the object; disks have no such names.

    Raises:
        OSError: the storage does not answer, or has it no more.
    """
    if uri.scheme == FILE:
        return ""
    with access.file_system(uri).open_input_file(uri.path) as file:
        return tag_of(file)


def tag_of(file: Any) -> str:
    """The same of an object that is open."""
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
        for each in found:
            status = _status(each.stat)
            if status is None:
                # A link to nothing, or a file that has just gone.
                continue
            yield Entry(each.name, _is_folder(status), *_state(status), each.is_symlink())


def _status(asked: Callable[[], os.stat_result]) -> os.stat_result | None:
    try:
        return asked()
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return None
        raise


def _is_folder(status: os.stat_result) -> bool:
    # Pipes and devices are no files that end, and nothing to look into either.
    return not stat.S_ISREG(status.st_mode)


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _named(infos: Sequence[Any]) -> Iterator[Entry]:
    for each in infos:
        if each.type == pafs.FileType.File:
            yield Entry(each.base_name, False, each.size or 0, _whole_seconds(each.mtime_ns or 0))
        elif each.type == pafs.FileType.Directory:
            yield Entry(each.base_name, True)


def _whole_seconds(moment_ns: int) -> int:
    # Some stores tell milliseconds where they list, and none where one object is asked for.
    return moment_ns // _SECOND_NS * _SECOND_NS
