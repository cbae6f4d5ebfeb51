"""A source's bytes, with errors that blame the source: their reader also writes to another storage."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.adapters.sources.object_stores import in_gateway_terms
from service.errors.source_errors import SourceChanged


class ReportingStream(io.RawIOBase):
    """A seekable file.

    Raises:
        SourceChanged: the file does not exist any more.
        SourceDenied: the storage denies access.
        StorageDown: the storage does not return it.
    """

    def __init__(self, file: Any, uri: str) -> None:
        super().__init__()
        self._file = file
        self._uri = uri

    def readable(self) -> bool:
        """Always True."""
        return True

    def seekable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes; 0 after the last one."""
        with reported(self._uri):
            return int(self._file.readinto(buffer))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to the position, and returns it."""
        with reported(self._uri):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Returns the position."""
        return int(self._file.tell())


@contextmanager
def reported(uri: str) -> Iterator[None]:
    """Turns a storage's errors into the gateway's own."""
    try:
        yield
    except FileNotFoundError as error:
        raise SourceChanged(f"{uri} no longer exists. Nothing was accepted.") from error
    except OSError as error:
        raise in_gateway_terms(uri, error) from error
