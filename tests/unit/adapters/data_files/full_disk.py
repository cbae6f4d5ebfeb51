"""A storage with room for a given number of bytes in each file."""

from __future__ import annotations

from typing import Any

from pyiceberg.io.pyarrow import PyArrowFileIO

NAME = f"{__name__}.FullDiskFileIO"


class FullDiskFileIO(PyArrowFileIO):
    def new_output(self, location: str) -> Any:
        return _Output(super().new_output(location), int(self.properties["room"]))


class _Output:
    def __init__(self, output: Any, room: int) -> None:
        self._output = output
        self._room = room

    def create(self, overwrite: bool = False) -> Any:
        return _Stream(self._output.create(overwrite), self._room)


class _Stream:
    def __init__(self, stream: Any, room: int) -> None:
        self._stream = stream
        self._room = room

    def write(self, content: bytes) -> int:
        self._room -= len(content)
        if self._room < 0:
            raise OSError(28, "No space left on device")
        return int(self._stream.write(content))

    def tell(self) -> int:
        return int(self._stream.tell())

    def flush(self) -> None:
        self._stream.flush()

    @property
    def closed(self) -> bool:
        return bool(self._stream.closed)

    def close(self) -> None:
        self._stream.close()
