"""Reads gzip as its tools write it: consecutive members, and zeros that pad the last tape block."""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO

_CHUNK_BYTES = 256 * 1024
_MAGIC = b"\x1f\x8b"
_WITH_HEADER = 31


class GzipStream(io.RawIOBase):
    """The content of all members; no more of it is decompressed than requested.

    Source: GNU gzip, "Tapes"; RFC 1952, 2.2.

    Raises, while it is read:
        OSError: without a number; it is not gzip, ends too early, or something else follows.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._rest = b""
        self._member: zlib._Decompress | None = None
        self._is_first = True

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills the buffer with some bytes; 0 at the end."""
        if len(buffer) == 0:
            return 0
        while self._member is not None or self._begin():
            assert self._member is not None
            found = self._next(self._member, len(buffer))
            if self._member.eof:
                self._rest, self._member = self._member.unused_data, None
            if found:
                buffer[: len(found)] = found
                return len(found)
        return 0

    def _next(self, member: zlib._Decompress, at_most: int) -> bytes:
        data = self._rest or self._raw.read(_CHUNK_BYTES)
        try:
            found = member.decompress(data, at_most)
        except zlib.error as error:
            raise OSError(f"it is damaged ({error})") from None
        if not data and not found and not member.eof:
            raise OSError("Truncated compressed stream")
        self._rest = member.unconsumed_tail
        return found

    def _begin(self) -> bool:
        """Moves to the next member; returns False at the end of all."""
        if not self._is_first:
            self._skip_zeros()
        while len(self._rest) < len(_MAGIC) and (more := self._raw.read(_CHUNK_BYTES)):
            self._rest += more
        if not self._rest:
            return False
        if not self._rest.startswith(_MAGIC):
            raise OSError(
                "its content is not compressed so"
                if self._is_first
                else "behind its last member, there is something else than gzip or zeros"
            )
        self._is_first, self._member = False, zlib.decompressobj(_WITH_HEADER)
        return True

    def _skip_zeros(self) -> None:
        while not (rest := self._rest.lstrip(b"\0")):
            self._rest = self._raw.read(_CHUNK_BYTES)
            if not self._rest:
                return
        self._rest = rest
