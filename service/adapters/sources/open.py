"""A part of a source's file as a stream of bytes, as it was when it was listed, or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from service.adapters.sources.lines_of_range import LinesOfRange
from service.adapters.sources.storage import SourceAccess, entry
from service.errors import SourceChanged
from service.model.source_uris import FILE, SourceUri
from service.model.sources import SourceFile, SourceSplit

BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SplitsOfStorage:
    """Implements `service.ingest_ports.SplitOpener`."""

    access: SourceAccess

    def __call__(self, split: SourceSplit) -> AbstractContextManager[BinaryIO]:
        """See `opened_split`."""
        return opened_split(split, self.access)


@contextmanager
def opened_split(split: SourceSplit, access: SourceAccess) -> Iterator[BinaryIO]:
    """The bytes of the split, from its first line to its last.

    Raises:
        SourceChanged: the file is not the one that was listed, before it was read or after.
        SourceNotAllowed: a link that has been put there since leads elsewhere.
        OSError: the storage does not give it.
    """
    uri = SourceUri.parse(split.file.uri)
    try:
        _check_same(split.file, uri, access)
        with _raw(uri, access) as raw:
            part = raw if split.end is None else LinesOfRange(raw, split.start, split.end)
            yield cast(BinaryIO, io.BufferedReader(part, BUFFER_BYTES))
        _check_same(split.file, uri, access)
    except FileNotFoundError as error:
        raise SourceChanged(f"{split.file.uri} is not there any more. Nothing was accepted.") from error


def _check_same(file: SourceFile, uri: SourceUri, access: SourceAccess) -> None:
    access.check_real(uri)
    now = entry(access, uri)
    if now is None or now.is_folder:
        raise SourceChanged(f"{file.uri} is not there any more. Nothing was accepted.")
    if (now.byte_count, now.modified_ns) != (file.byte_count, file.modified_ns):
        raise SourceChanged(f"{file.uri} was changed while it was read. Nothing was accepted.")


@contextmanager
def _raw(uri: SourceUri, access: SourceAccess) -> Iterator[Any]:
    if uri.scheme != FILE:
        with access.file_system(uri).open_input_file(uri.path) as file:
            yield file
        return
    with open(uri.path, "rb", buffering=0, opener=_no_link) as file:
        # Between the look at the name and the opening, somebody may have put a link into the way.
        access.check_open(uri, file.fileno())
        yield file


def _no_link(path: str, flags: int) -> int:
    return os.open(os.path.realpath(path), flags | os.O_NOFOLLOW | os.O_NONBLOCK)
