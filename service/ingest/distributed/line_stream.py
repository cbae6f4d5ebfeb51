"""Lines that come one by one, as a stream of bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import BinaryIO, cast

_BUFFER_BYTES = 1 << 20


class LineStream(io.RawIOBase):
    r"""Each line with its end. A line that has one inside, as messages may, has a tab there.

    >>> LineStream.buffered([b'{"a":', b'1,\n2', b""]).read()
    b'{"a":\n1,\t2\n\n'
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        super().__init__()
        self._lines = iter(lines)
        self._left = memoryview(b"")

    @staticmethod
    def buffered(lines: Iterable[bytes]) -> BinaryIO:
        """The lines, read in larger pieces."""
        return cast(BinaryIO, io.BufferedReader(LineStream(lines), _BUFFER_BYTES))

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The next bytes; 0 after the last one."""
        if not self._left:
            line = next(self._lines, None)
            if line is None:
                return 0
            # Between JSON's words a tab is the same as a line's end; within them it is refused as well.
            self._left = memoryview(line.replace(b"\n", b"\t") + b"\n")
        part = self._left[: len(buffer)]
        buffer[: len(part)] = part
        self._left = self._left[len(part) :]
        return len(part)
