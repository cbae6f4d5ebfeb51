"""In-memory spools, and a disk that can be full."""

from __future__ import annotations

import io
from typing import BinaryIO

from service.errors.unavailable import StorageDown


class FakeSpool:
    def __init__(self, spools: FakeSpools) -> None:
        self._spools = spools
        self._data = b""

    def write(self, data: bytes | bytearray) -> None:
        if self._spools.is_full:
            raise StorageDown("The gateway's own disk has no room for more of the body.")
        self._data += data

    def open(self) -> BinaryIO:
        return io.BytesIO(self._data)

    def close(self) -> None:
        self._spools.open_ones.discard(self)


class FakeSpools:
    def __init__(self) -> None:
        self.is_full = False
        self.open_ones: set[FakeSpool] = set()

    def new(self) -> FakeSpool:
        spool = FakeSpool(self)
        self.open_ones.add(spool)
        return spool
