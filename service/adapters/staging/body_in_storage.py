"""A body staged in a storage, with errors that blame the storage, and not the body."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from pyiceberg.io import load_file_io

from service.errors.unavailable import StorageDown

_BUFFER_BYTES = 1 << 20


def opened_body(location: str, io_properties: Mapping[str, str]) -> BinaryIO:
    """Opens the whole body; it is seekable.

    Raises, also while it is read:
        StorageDown: the storage does not return it.
    """
    with _reported():
        file = load_file_io(dict(io_properties), location).new_input(location).open()
        return cast(BinaryIO, io.BufferedReader(_StoredBody(file), _BUFFER_BYTES))


class _StoredBody(io.RawIOBase):
    def __init__(self, file: Any) -> None:
        super().__init__()
        self._file = file
        self._size = int(file.seek(0, io.SEEK_END))
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Damaged data may point beyond the end, which a storage would report as an error.
        if self._position >= self._size:
            return 0
        with _reported():
            self._file.seek(self._position)
            found = self._file.read(len(buffer))
        buffer[: len(found)] = found
        self._position += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        before = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if before + offset < 0:
            raise OSError("a place lies before the beginning")
        self._position = before + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageDown("The storage does not return the body that was put there.") from error
