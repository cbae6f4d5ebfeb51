"""Reads a part of a stream as a stream."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

_BUFFER_BYTES = 1 << 20


class ByteRange(io.RawIOBase):
    """The bytes of a stream from `start` to `end` (exclusive), after a header."""

    def __init__(self, stream: BinaryIO, start: int, end: int, header: bytes) -> None:
        super().__init__()
        self._stream = stream
        self._left = end - start
        self._header = memoryview(header)
        if stream.seekable():
            stream.seek(start)
        else:
            _skip(stream, start)

    @staticmethod
    def buffered(stream: BinaryIO, start: int, end: int, header: bytes = b"") -> BinaryIO:
        """Returns the part, read in larger pieces; a stream that is not seekable is read from its beginning.

        >>> ByteRange.buffered(io.BytesIO(b"abcdef"), 2, 4, b"h:").read()
        b'h:cd'
        """
        return cast(BinaryIO, io.BufferedReader(ByteRange(stream, start, end, header), _BUFFER_BYTES))

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills the buffer with the next bytes; returns their number, 0 after the last one."""
        if self._header:
            part = self._header[: len(buffer)]
            self._header = self._header[len(part) :]
        else:
            part = memoryview(self._stream.read(min(len(buffer), self._left)))
            self._left -= len(part)
        buffer[: len(part)] = part
        return len(part)


def _skip(stream: BinaryIO, count: int) -> None:
    while count > 0:
        skipped = len(stream.read(min(count, _BUFFER_BYTES)))
        if not skipped:
            return
        count -= skipped
