"""Results that are read as their bytes are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol
from uuid import UUID


class ArrowFile(Protocol):
    """A whole result as one Arrow IPC stream, whose bytes never change."""

    @property
    def byte_count(self) -> int:
        """The bytes of the stream."""
        ...

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        """Yields the bytes from `start` until before `stop`, in pieces of at most a megabyte.

        Raises:
            ResultExpired: the result is gone; also in the middle.
        """
        ...


class ResultFiles(Protocol):
    """Results as their bytes are kept."""

    def open(self, query_id: UUID) -> ArrowFile:
        """Returns the result of a query.

        Raises:
            ResultExpired: it is gone.
        """
        ...
