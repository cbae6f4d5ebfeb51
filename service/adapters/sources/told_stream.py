"""A source's bytes, with errors that say it was the source: whoever reads them also writes somewhere else."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.adapters.sources.object_stores import in_gateway_terms
from service.errors import SourceChanged


class ToldStream(io.RawIOBase):
    """A file that can be sought.

    Raises:
        SourceChanged: it is not there any more.
        SourceDenied: the storage refuses who reads.
        StorageDown: the storage does not give it.
    """

    def __init__(self, file: Any, uri: str) -> None:
        super().__init__()
        self._file = file
        self._uri = uri

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes; 0 after the last one."""
        with told(self._uri):
            return int(self._file.readinto(buffer))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """The new position."""
        with told(self._uri):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """The position."""
        return int(self._file.tell())


@contextmanager
def told(uri: str) -> Iterator[None]:
    """Turns what a storage raises into the gateway's own errors."""
    try:
        yield
    except FileNotFoundError as error:
        raise SourceChanged(f"{uri} is not there any more. Nothing was accepted.") from error
    except OSError as error:
        raise in_gateway_terms(uri, error) from error
