"""Opens a part of a source's file as a byte stream: exactly as listed, or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from service.adapters.sources.lines_of_range import LinesOfRange
from service.adapters.sources.reporting_stream import ReportingStream, reported
from service.adapters.sources.storage import SourceAccess, entry, tag, tag_of
from service.errors.source_errors import SourceChanged
from service.model.ingest.source_uris import FILE, SourceUri
from service.model.ingest.sources import SourceFile, SourceSplit

BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SplitsOfStorage:
    """Implements `service.ports.tables.sources.SplitOpener`."""

    access: SourceAccess

    def __call__(self, split: SourceSplit) -> AbstractContextManager[BinaryIO]:
        """See `opened_split`."""
        return opened_split(split, self.access)


@contextmanager
def opened_split(split: SourceSplit, access: SourceAccess) -> Iterator[BinaryIO]:
    """Yields the bytes of the split, from its first line to its last.

    Raises:
        SourceChanged: the file is not the one that was listed, before or after it was read.
        SourceNotAllowed: a link created in the meantime leads elsewhere.
        SourceDenied: the storage denies access.
        StorageDown: the storage does not return it.
    """
    uri = SourceUri.parse(split.file.uri)
    _check_same(split.file, uri, access)
    with _raw(split.file, uri, access) as raw:
        stream = ReportingStream(raw, split.file.uri)
        part = stream if split.end is None else LinesOfRange(stream, split.start, split.end)
        yield cast(BinaryIO, io.BufferedReader(part, BUFFER_BYTES))
    _check_same(split.file, uri, access)


def _check_same(file: SourceFile, uri: SourceUri, access: SourceAccess) -> None:
    access.check_real(uri)
    with reported(file.uri):
        now = entry(access, uri)
    if now is None or now.is_folder:
        raise SourceChanged(f"{file.uri} no longer exists. Nothing was accepted.")
    if (now.byte_count, now.modified_ns) != (file.byte_count, file.modified_ns):
        raise _changed(file.uri)


@contextmanager
def _raw(file: SourceFile, uri: SourceUri, access: SourceAccess) -> Iterator[Any]:
    if uri.scheme != FILE:
        with _same_object(file, uri, access) as raw:
            yield raw
        return
    with reported(file.uri):
        opened = open(uri.path, "rb", buffering=0, opener=_no_link)  # noqa: SIM115
    with opened as raw:
        # Between the check of the name and the opening, another process may have created a link.
        access.check_open(uri, raw.fileno())
        yield raw


def _no_link(path: str, flags: int) -> int:
    return os.open(os.path.realpath(path), flags | os.O_NOFOLLOW | os.O_NONBLOCK)


@contextmanager
def _same_object(file: SourceFile, uri: SourceUri, access: SourceAccess) -> Iterator[Any]:
    """An object that is read piece by piece: all pieces are of one version, or there is an error.

    Its modification time has only whole seconds, within which an object of the same size may have replaced
    it.
    """
    with reported(file.uri):
        opened = access.file_system(uri).open_input_file(uri.path)
    with opened as raw:
        before = tag_of(raw)
        if file.tag not in ("", before):
            raise _changed(file.uri)
        yield raw
    with reported(file.uri):
        after = tag(access, uri)
    if after != before:
        raise _changed(file.uri)


def _changed(uri: str) -> SourceChanged:
    return SourceChanged(f"{uri} was changed while it was read. Nothing was accepted.")
