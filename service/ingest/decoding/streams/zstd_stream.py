"""Reads Zstandard as its tools write it: consecutive frames, some of them skippable, and nothing else."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPED = (b"\x2a\x4d\x18", range(0x50, 0x60))


class ZstdStream:
    """The content of all frames; no more of it is decompressed than requested.

    Source: RFC 8878, 3.1. Like the tool `zstd`, it rejects anything after the last frame, even zeros.

    Raises, while it is read:
        OSError: without a number; it is not zstd, ends too early, or something else follows.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._noted = _FirstBytes(raw)
        self._frames = pa.CompressedInputStream(self._noted, "zstd")

    def readinto(self, buffer: memoryview) -> int:
        """Fills the buffer with some bytes; 0 at the end."""
        try:
            byte_count: int = self._frames.readinto(buffer)
        except OSError as error:
            if error.errno is not None or "frame descriptor" not in str(error):
                raise
            raise OSError(
                "behind its last frame, there is something else than zstd"
                if _is_frame(self._noted.first)
                else "its content is not compressed so"
            ) from None
        return byte_count


class _FirstBytes:
    """A stream that remembers its first bytes."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.first = b""

    def read(self, byte_count: int) -> bytes:
        found = self._raw.read(byte_count)
        if len(self.first) < len(_MAGIC):
            self.first += found[: len(_MAGIC)]
        return found

    def close(self) -> None:
        """Does nothing: Arrow closes its input at the end, but whoever opened the stream closes it."""


def _is_frame(first: bytes) -> bool:
    rest, kinds = _SKIPPED
    return first.startswith(_MAGIC) or (first[1:4] == rest and first[0] in kinds)
