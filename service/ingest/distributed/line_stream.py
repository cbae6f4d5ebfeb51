"""Turns single lines into a stream of bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import BinaryIO, cast

_BUFFER_BYTES = 1 << 20


class LineStream(io.RawIOBase):
    r"""A stream of lines, each with a line end; a line end inside a line, as in messages, becomes a tab.

    >>> LineStream.buffered([b'{"a":', b'1,\n2', b""]).read()
    b'{"a":\n1,\t2\n\n'
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        super().__init__()
        self._lines = iter(lines)
        self._left = memoryview(b"")

    @staticmethod
    def buffered(lines: Iterable[bytes]) -> BinaryIO:
        """Returns the lines, read in larger pieces."""
        return cast(BinaryIO, io.BufferedReader(LineStream(lines), _BUFFER_BYTES))

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills the buffer with the next bytes; returns their number, 0 after the last one."""
        if not self._left:
            line = next(self._lines, None)
            if line is None:
                return 0
            # Between tokens of JSON, a tab is equivalent to a line end; within strings, both are invalid.
            self._left = memoryview(line.replace(b"\n", b"\t") + b"\n")
        part = self._left[: len(buffer)]
        buffer[: len(part)] = part
        self._left = self._left[len(part) :]
        return len(part)
