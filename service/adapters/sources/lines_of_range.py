"""Reads the lines that begin within a range of bytes."""

from __future__ import annotations

import io
from typing import Any

_BLOCK_BYTES = 1 << 16
_NEWLINE = b"\n"


class LinesOfRange(io.RawIOBase):
    r"""All lines of a seekable file that begin from `start` on and before `end`, each to its end.

    So each line is in exactly one of several adjacent ranges.

    >>> text = b"one\ntwo\nthree"
    >>> [LinesOfRange(io.BytesIO(text), start, end).read() for start, end in ((0, 4), (4, 5), (5, 13))]
    [b'one\n', b'two\n', b'three']
    """

    def __init__(self, file: Any, start: int, end: int) -> None:
        super().__init__()
        self._file = file
        # A line begins after the end of another one.
        self._position = max(start - 1, 0)
        self._end = end
        self._left = b""
        self._has_ended = False
        file.seek(self._position)
        if start:
            self._skip_line()

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes; 0 after the last one."""
        block = self._next(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def _next(self, size: int) -> bytes:
        if self._has_ended or size == 0:
            return b""
        # The newline before `end` is the last one that counts.
        before_last = self._end - 1 - self._position
        block = self._read(min(size, before_last) if before_last > 0 else size)
        if not block:
            self._has_ended = True
        elif before_last <= 0 and (found := block.find(_NEWLINE)) >= 0:
            self._has_ended = True
            return block[: found + 1]
        return block

    def _skip_line(self) -> None:
        while block := self._read(_BLOCK_BYTES):
            found = block.find(_NEWLINE)
            if found >= 0:
                self._left = block[found + 1 :]
                self._position -= len(self._left)
                break
        # The first line from here on may belong to another range.
        self._has_ended = self._position >= self._end

    def _read(self, size: int) -> bytes:
        if self._left:
            block, self._left = self._left[:size], self._left[size:]
        else:
            block = bytes(self._file.read(size) or b"")
        self._position += len(block)
        return block
