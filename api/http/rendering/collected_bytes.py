"""A file in memory whose bytes are taken out as they are written."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class CollectedBytes(io.RawIOBase):
    """Collects what a writer of files writes, so that it can be sent in parts."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Collects the bytes."""
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        """Returns the bytes since the last call, also after the file is closed."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken
