"""A storage that counts how many files are open at the same time."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from pyiceberg.io.pyarrow import PyArrowFileIO

NAME = f"{__name__}.CountedFileIO"


_counting = threading.Lock()


class CountedFileIO(PyArrowFileIO):
    open_now: ClassVar[int] = 0
    open_at_most: ClassVar[int] = 0

    def new_output(self, location: str) -> Any:
        return _Output(super().new_output(location))


class _Output:
    def __init__(self, output: Any) -> None:
        self._output = output

    def create(self, overwrite: bool = False) -> Any:
        return _Stream(self._output.create(overwrite))


class _Stream:
    def __init__(self, stream: Any) -> None:
        self._stream = stream
        with _counting:
            CountedFileIO.open_now += 1
            CountedFileIO.open_at_most = max(CountedFileIO.open_at_most, CountedFileIO.open_now)

    def write(self, content: bytes) -> int:
        return int(self._stream.write(content))

    def tell(self) -> int:
        return int(self._stream.tell())

    def flush(self) -> None:
        self._stream.flush()

    @property
    def closed(self) -> bool:
        return bool(self._stream.closed)

    def close(self) -> None:
        if not self._stream.closed:
            with _counting:
                CountedFileIO.open_now -= 1
        self._stream.close()
