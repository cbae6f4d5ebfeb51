"""Bodies of records. Each can be sent again, so that a retry with the same `requestId` has the same bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_PIECE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BodyType:
    """The media type of a body, and how it is compressed."""

    content_type: str
    content_encoding: str | None = None


class _TypedBody:
    def __init__(self, kind: BodyType) -> None:
        self._kind = kind

    @property
    def content_type(self) -> str:
        """The media type."""
        return self._kind.content_type

    @property
    def content_encoding(self) -> str | None:
        """How the bytes are compressed, or None."""
        return self._kind.content_encoding

    @property
    def length(self) -> int | None:
        """The number of bytes, or None if that is not known before they are read."""
        return None

    def close(self) -> None:
        """Frees what the body has in memory or on the disk."""


class MadeBody(_TypedBody):
    """Bytes that are made again for each attempt, from data that does not change."""

    def __init__(self, kind: BodyType, make: Callable[[], Iterator[bytes]]) -> None:
        super().__init__(kind)
        self._make = make

    def can_open(self) -> bool:
        """Always true."""
        return True

    def open(self) -> Iterator[bytes]:
        """Yields the bytes from their beginning."""
        return self._make()


class SpooledBody(_TypedBody):
    """Bytes that come only once. They are kept as they are sent: in memory, then in a temporary file."""

    def __init__(self, kind: BodyType, pieces: Iterator[bytes], memory_bytes: int) -> None:
        super().__init__(kind)
        self._pieces = pieces
        self._spool = tempfile.SpooledTemporaryFile(max_size=memory_bytes)  # noqa: SIM115 - see `close`
        self._is_broken = False

    def can_open(self) -> bool:
        """False if the source of the bytes failed: the rest of them will not come."""
        return not self._is_broken

    def open(self) -> Iterator[bytes]:
        """Yields the bytes that were sent before, and then the others."""
        position = 0
        while piece := self._kept(position) or self._next():
            position += len(piece)
            yield piece

    def close(self) -> None:
        """Removes what was kept."""
        self._spool.close()

    def _kept(self, position: int) -> bytes:
        self._spool.seek(position)
        return self._spool.read(_PIECE_BYTES)

    def _next(self) -> bytes:
        try:
            piece = next((piece for piece in self._pieces if piece), b"")
        except BaseException:
            self._is_broken = True
            raise
        self._spool.write(piece)
        return piece


class FileBody(_TypedBody):
    """A file, which is never whole in memory. It is opened for each attempt."""

    def __init__(self, kind: BodyType, path: Path) -> None:
        super().__init__(kind)
        self._path = path
        self._length = path.stat().st_size

    @property
    def length(self) -> int:
        """The size of the file when the body was made."""
        return self._length

    def can_open(self) -> bool:
        """Whether the file has its size of before."""
        try:
            return self._path.stat().st_size == self._length
        except OSError:
            return False

    def open(self) -> Iterator[bytes]:
        """Yields the file."""
        with self._path.open("rb") as file:
            yield from read_pieces(file)


class OpenFileBody(_TypedBody):
    """An open file that can be read from the same place again. The caller closes it."""

    def __init__(self, kind: BodyType, file: BinaryIO) -> None:
        super().__init__(kind)
        self._file = file
        self._start = file.tell()

    def can_open(self) -> bool:
        """Whether the file is still open."""
        return not self._file.closed

    def open(self) -> Iterator[bytes]:
        """Yields the file from the place where it was."""
        self._file.seek(self._start, os.SEEK_SET)
        yield from read_pieces(self._file)


def read_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yields a file from where it is.

    Raises:
        TypeError: it yields text: it was not opened in binary mode.
    """
    while piece := file.read(_PIECE_BYTES):
        if not isinstance(piece, bytes | bytearray):
            raise TypeError("open the file in binary mode: open(path, 'rb')")
        yield bytes(piece)
