"""Results as files, which are read by the place of their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol
from uuid import UUID


class StoredFile(Protocol):
    """A whole result as one file, whose bytes never change."""

    @property
    def byte_count(self) -> int:
        """The bytes of the file."""
        ...

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        """Yields the bytes from `start` until before `stop`, in pieces of at most a megabyte.

        Raises:
            ResultExpired: the result is gone; also in the middle.
            NoRoomForResult: a file of `FormattedFiles` had to make room before its first byte was read.
        """
        ...


class ResultFiles(Protocol):
    """Results as Arrow IPC streams, whose bytes are read as they are kept."""

    def open(self, query_id: UUID) -> StoredFile:
        """Returns the result of a query.

        Raises:
            ResultExpired: it is gone.
        """
        ...


class FormattedFiles(Protocol):
    """Results as files of other formats, while there is room: each can be written again."""

    def find(self, query_id: UUID, name: str) -> StoredFile | None:
        """Returns the file of a result by the name that it was written under; None if it is not there."""
        ...

    def write(self, query_id: UUID, name: str, pieces: Iterable[bytes]) -> StoredFile:
        """Keeps a file, in place of one of the same name. The least used ones make room.

        Nothing is left of a file that is not written to its end, and whatever `pieces` raises passes through.

        Raises:
            ResultTooLarge: it is larger than all files together may be.
            NoRoomForResult: files that are being written take all room, or the disk is full.
            QueryFailed: the disk cannot be written.
            ShuttingDown: the gateway stops.
        """
        ...
